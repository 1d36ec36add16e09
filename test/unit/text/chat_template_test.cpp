//===- chat_template_test.cpp - prompts equal to the reference ------------===//
// The expected texts come from Python's jinja2
// (test/data/text/make_chat_templates.py).
#include "runtime/text/chat_template.h"

#include "test/unit/text/test_files.h"
#include <gtest/gtest.h>

namespace sol::text {
namespace {

constexpr RenderOptions july{.now =
                                 1721995200}; // noon on 26 July 2024, so that
                                              // no time zone changes the day

TEST(ChatTemplate, rendersAsJinja2Does) {
  auto data = readTestJson("text/chat_templates.json");
  ASSERT_TRUE(data.is_object());
  ASSERT_GT(data["cases"].size(), 100u);
  for (const auto &entry : data["cases"]) {
    auto name = entry["template"].get<std::string>();
    auto parsed =
        ChatTemplate::parse(data["templates"][name].get<std::string>());
    ASSERT_TRUE(parsed.ok()) << name << ": " << parsed.status();
    auto made = parsed->render(entry["variables"], july);
    if (entry.contains("error"))
      EXPECT_FALSE(made.ok()) << name << entry["variables"] << ": expected "
                              << entry["error"] << ", got " << *made;
    else if (!made.ok())
      ADD_FAILURE() << name << entry["variables"] << ": " << made.status();
    else
      EXPECT_EQ(*made, entry["expected"].get<std::string>()) << name;
  }
}

TEST(ChatTemplate, followsTheLanguage) {
  auto data = readTestJson("text/chat_templates.json");
  ASSERT_GT(data["snippets"].size(), 50u);
  for (const auto &entry : data["snippets"]) {
    auto source = entry["source"].get<std::string>();
    auto parsed = ChatTemplate::parse(source);
    auto made = parsed.ok() ? parsed->render(nlohmann::ordered_json::object())
                            : parsed.status();
    if (entry.contains("error"))
      EXPECT_FALSE(made.ok()) << source << ": expected " << entry["error"];
    else if (!made.ok())
      ADD_FAILURE() << source << ": " << made.status();
    else
      EXPECT_EQ(*made, entry["expected"].get<std::string>()) << source;
  }
}

std::string errorOf(const std::string &source,
                    const RenderOptions &options = {}) {
  auto parsed = ChatTemplate::parse(source);
  if (!parsed.ok())
    return std::string(parsed.status().message());
  auto made = parsed->render(nlohmann::json::object(), options);
  return made.ok() ? "no error" : std::string(made.status().message());
}

TEST(ChatTemplate, namesTheLineInErrors) {
  EXPECT_EQ(errorOf("a\n{{ raise_exception('bad role') }}"),
            "template line 2: the chat template refuses: bad role");
  EXPECT_EQ(errorOf("\n\n{{ message.role }}"),
            "template line 3: `message` is undefined, so it has no `role`");
  EXPECT_EQ(errorOf("{% include 'x' %}"),
            "template line 1: the statement `include` isn't supported in chat "
            "templates");
  EXPECT_EQ(errorOf("{% for x in y %}"), "template line 1: expected `{% endfor "
                                         "%}` before the end of the template");
  EXPECT_EQ(errorOf("{{ 'a' | nothing }}"),
            "template line 1: no filter named `nothing`");
  EXPECT_NE(errorOf("\xff"), "no error");
}

TEST(ChatTemplate, boundsHostileTemplates) {
  const RenderOptions small{.maxSteps = 100'000, .maxBytes = 1 << 20};
  for (const char *source : {
           "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% "
           "endfor %}",
           "{% set ns = namespace(s='x') %}{% for i in range(99) %}{% set ns.s "
           "= ns.s ~ ns.s %}{% endfor %}",
           "{% set ns = namespace(s=[1]) %}{% for i in range(99) %}{% set ns.s "
           "= ns.s + ns.s %}{% endfor %}",
           "{% set ns = namespace(s=[1]) %}{% for i in range(9999) %}{% set "
           "ns.s = [ns.s] %}{% endfor %}",
           "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
           "{{ 'x' * 999999999999 }}",
           "{{ 9999999999999 * 9999999999999 }}",
           "{{ 10 ** 999999999999 }}",
       })
    EXPECT_NE(errorOf(source, small), "no error") << source;
  for (const char *part :
       {"(", "[", "{1:", "not ", "-", "{% if 1 %}", "{{ m(", "x|d("}) {
    std::string deep;
    for (int i = 0; i < 20000; ++i)
      deep += part;
    EXPECT_NE(errorOf("{{ " + deep), "no error") << part;
    EXPECT_NE(errorOf(deep), std::string()) << part;
  }
  std::string chain = "{{ 1";
  for (int i = 0; i < 20000; ++i)
    chain += " + 1";
  EXPECT_NE(errorOf(chain + " }}"), "no error");
  std::string nested = "{% macro m() %}";
  for (int i = 0; i < 90; ++i)
    nested += "{% if 1 %}";
  nested += "{{ m() }}";
  for (int i = 0; i < 90; ++i)
    nested += "{% endif %}";
  EXPECT_NE(errorOf(nested + "{% endmacro %}{{ m() }}"), "no error");
  // A namespace inside itself neither leaks nor loops.
  EXPECT_EQ(errorOf("{% set ns = namespace() %}{% set ns.me = ns %}{% set "
                    "ns.list = [ns] %}{{ ns.list }}"),
            "no error");
}

TEST(ChatTemplate, refusesVariablesThatNestTooDeeply) {
  nlohmann::ordered_json deep = 1;
  for (int i = 0; i < 500; ++i)
    deep = nlohmann::ordered_json::array({deep});
  auto parsed = ChatTemplate::parse("{{ x }}");
  ASSERT_TRUE(parsed.ok());
  EXPECT_FALSE(parsed->render(nlohmann::ordered_json{{"x", deep}}).ok());
  EXPECT_FALSE(
      parsed->render(nlohmann::json{{"x", nlohmann::json(deep)}}).ok());
  EXPECT_FALSE(parsed->render(nlohmann::ordered_json::array()).ok());
  EXPECT_FALSE(parsed->render(nlohmann::ordered_json{{"x", "\xff"}}).ok());
}

} // namespace
} // namespace sol::text
