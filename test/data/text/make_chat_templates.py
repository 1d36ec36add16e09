#!/usr/bin/env python3
"""Makes chat_templates.json: templates, variables, and what Python's jinja2 renders.

Needs the package jinja2==3.1.6. Run from the repository root:
    python test/data/text/make_chat_templates.py
The environment is set up as the transformers package does: an immutable sandbox with trim_blocks and lstrip_blocks,
loop controls, and its own tojson. The templates are written in the style of well-known models' templates.
"""
import json
import pathlib

import jinja2
from jinja2.ext import Extension, loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

HERE = pathlib.Path(__file__).parent
SMOLLM2 = HERE.parent / "models" / "smollm2-135m-instruct" / "chat_template.jinja"


class Generation(Extension):
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.If(jinja2.nodes.Const(True), body, [], [], lineno=line)


def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


ENVIRONMENT = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols])
ENVIRONMENT.filters["tojson"] = tojson
ENVIRONMENT.globals["raise_exception"] = raise_exception
ENVIRONMENT.globals["strftime_now"] = lambda form: __import__("datetime").datetime(2024, 7, 26).strftime(form)

TEMPLATES = {}

TEMPLATES["smollm2"] = SMOLLM2.read_text()

TEMPLATES["chatml"] = """\
{%- for message in messages %}
    {{- '<|im_start|>' + message['role'] + '\\n' + message['content'] | trim + '<|im_end|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
{%- endif %}
"""

TEMPLATES["zephyr"] = """\
{% for message in messages %}
{% if message['role'] == 'user' %}
{{ '<|user|>\\n' + message['content'] + eos_token }}
{% elif message['role'] == 'system' %}
{{ '<|system|>\\n' + message['content'] + eos_token }}
{% elif message['role'] == 'assistant' %}
{% generation %}
{{ '<|assistant|>\\n'  + message['content'] + eos_token }}
{% endgeneration %}
{% endif %}
{% if loop.last and add_generation_prompt %}
{{ '<|assistant|>' }}
{% endif %}
{% endfor %}"""

TEMPLATES["llama2"] = """\
{% if messages[0]['role'] == 'system' %}{% set rest = messages[1:] %}{% set system = messages[0]['content'] %}\
{% else %}{% set rest = messages %}{% set system = false %}{% endif %}\
{% for message in rest %}\
{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}\
{{ raise_exception('Roles must alternate user/assistant/user/assistant/...') }}{% endif %}\
{% if loop.index0 == 0 and system != false %}{% set content = '<<SYS>>\\n' + system + '\\n<</SYS>>\\n\\n' + message['content'] %}\
{% else %}{% set content = message['content'] %}{% endif %}\
{% if message['role'] == 'user' %}{{ bos_token + '[INST] ' + content.strip() + ' [/INST]' }}\
{% elif message['role'] == 'assistant' %}{{ ' ' + content.strip() + ' ' + eos_token }}{% endif %}{% endfor %}"""

TEMPLATES["llama3"] = """\
{% set loop_messages = messages %}{% for message in loop_messages %}{% set content = '<|start_header_id|>' + \
message['role'] + '<|end_header_id|>\\n\\n'+ message['content'] | trim + '<|eot_id|>' %}{% if loop.index0 == 0 %}\
{% set content = bos_token + content %}{% endif %}{{ content }}{% endfor %}{% if add_generation_prompt %}\
{{ '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{% endif %}"""

TEMPLATES["llama31"] = """\
{{- bos_token }}
{%- if custom_tools is defined %}
    {%- set tools = custom_tools %}
{%- endif %}
{%- if not tools_in_user_message is defined %}
    {%- set tools_in_user_message = true %}
{%- endif %}
{%- if not date_string is defined %}
    {%- set date_string = strftime_now("%d %b %Y") %}
{%- endif %}
{%- if not tools is defined %}
    {%- set tools = none %}
{%- endif %}

{#- The system message comes out of the list, so that it can go first. #}
{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content']|trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system_message = "" %}
{%- endif %}
{{- "<|start_header_id|>system<|end_header_id|>\\n\\n" }}
{%- if builtin_tools is defined or tools is not none %}
    {{- "Environment: ipython\\n" }}
{%- endif %}
{%- if builtin_tools is defined %}
    {{- "Tools: " + builtin_tools | reject('equalto', 'code_interpreter') | join(", ") + "\\n\\n"}}
{%- endif %}
{{- "Today Date: " + date_string + "\\n\\n" }}
{%- if tools is not none and not tools_in_user_message %}
    {{- "You have these functions.\\n\\n" }}
    {%- for t in tools %}
        {{- t | tojson(indent=4) }}
        {{- "\\n\\n" }}
    {%- endfor %}
{%- endif %}
{{- system_message }}
{{- "<|eot_id|>" }}

{%- if tools_in_user_message and not tools is none %}
    {%- if messages | length != 0 %}
        {%- set first_user_message = messages[0]['content']|trim %}
        {%- set messages = messages[1:] %}
    {%- else %}
        {{- raise_exception("No first user message to put the tools into!") }}
{%- endif %}
    {{- '<|start_header_id|>user<|end_header_id|>\\n\\n' -}}
    {{- "Answer with a call of one of these functions.\\n\\n" }}
    {%- for t in tools %}
        {{- t | tojson(indent=4) }}
        {{- "\\n\\n" }}
    {%- endfor %}
    {{- first_user_message + "<|eot_id|>"}}
{%- endif %}

{%- for message in messages %}
    {%- if not (message.role == 'ipython' or message.role == 'tool' or 'tool_calls' in message) %}
        {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n'+ message['content'] | trim + '<|eot_id|>' }}
    {%- elif 'tool_calls' in message %}
        {%- if not message.tool_calls|length == 1 %}
            {{- raise_exception("Only one tool call at a time!") }}
        {%- endif %}
        {%- set tool_call = message.tool_calls[0].function %}
        {%- if builtin_tools is defined and tool_call.name in builtin_tools %}
            {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' -}}
            {{- "<|python_tag|>" + tool_call.name + ".call(" }}
            {%- for arg_name, arg_val in tool_call.arguments | items %}
                {{- arg_name + '="' + arg_val + '"' }}
                {%- if not loop.last %}
                    {{- ", " }}
                {%- endif %}
                {%- endfor %}
            {{- ")" }}
        {%- else  %}
            {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' -}}
            {{- '{"name": "' + tool_call.name + '", ' }}
            {{- '"parameters": ' }}
            {{- tool_call.arguments | tojson }}
            {{- "}" }}
        {%- endif %}
        {{- "<|eot_id|>" }}
    {%- elif message.role == "tool" or message.role == "ipython" %}
        {{- "<|start_header_id|>ipython<|end_header_id|>\\n\\n" }}
        {%- if message.content is mapping or message.content is iterable %}
            {{- message.content | tojson }}
        {%- else %}
            {{- message.content }}
        {%- endif %}
        {{- "<|eot_id|>" }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}
{%- endif %}
"""

TEMPLATES["mistral"] = """\
{%- if messages[0]["role"] == "system" %}
    {%- set system_message = messages[0]["content"] %}
    {%- set loop_messages = messages[1:] %}
{%- else %}
    {%- set loop_messages = messages %}
{%- endif %}
{%- if not tools is defined %}
    {%- set tools = none %}
{%- endif %}
{%- set user_messages = loop_messages | selectattr("role", "equalto", "user") | list %}
{%- set ns = namespace() %}
{%- set ns.index = 0 %}
{%- for message in loop_messages %}
    {%- if not (message.role == "tool" or (message.tool_calls is defined and message.tool_calls is not none)) %}
        {%- if (message["role"] == "user") != (ns.index % 2 == 0) %}
            {{- raise_exception("After the optional system message, roles must alternate") }}
        {%- endif %}
        {%- set ns.index = ns.index + 1 %}
    {%- endif %}
{%- endfor %}
{{- bos_token }}
{%- for message in loop_messages %}
    {%- if message["role"] == "user" %}
        {%- if tools is not none and (message == user_messages[-1]) %}
            {{- "[AVAILABLE_TOOLS] [" }}
            {%- for tool in tools %}
                {%- set tool = tool.function %}
                {{- '{"type": "function", "function": {' }}
                {%- for key, val in tool.items() if key != "return" %}
                    {%- if val is string %}
                        {{- '"' + key + '": "' + val + '"' }}
                    {%- else %}
                        {{- '"' + key + '": ' + val|tojson }}
                    {%- endif %}
                    {%- if not loop.last %}
                        {{- ", " }}
                    {%- endif %}
                {%- endfor %}
                {{- "}}" }}
                {%- if not loop.last %}
                    {{- ", " }}
                {%- else %}
                    {{- "]" }}
                {%- endif %}
            {%- endfor %}
            {{- "[/AVAILABLE_TOOLS]" }}
        {%- endif %}
        {%- if loop.last and system_message is defined %}
            {{- "[INST] " + system_message + "\\n\\n" + message["content"] + "[/INST]" }}
        {%- else %}
            {{- "[INST] " + message["content"] + "[/INST]" }}
        {%- endif %}
    {%- elif message.tool_calls is defined and message.tool_calls is not none %}
        {{- "[TOOL_CALLS] [" }}
        {%- for tool_call in message.tool_calls %}
            {%- set out = tool_call.function|tojson %}
            {{- out[:-1] }}
            {%- if not tool_call.id is defined or tool_call.id|length != 9 %}
                {{- raise_exception("Tool call IDs should be strings with length 9!") }}
            {%- endif %}
            {{- ', "id": "' + tool_call.id + '"}' }}
            {%- if not loop.last %}
                {{- ", " }}
            {%- else %}
                {{- "]" + eos_token }}
            {%- endif %}
        {%- endfor %}
    {%- elif message["role"] == "assistant" %}
        {{- " " + message["content"]|trim + eos_token}}
    {%- elif message["role"] == "tool" %}
        {%- set content = message.content.content if message.content is mapping and message.content.content is defined else message.content %}
        {{- '[TOOL_RESULTS] {"content": ' + content|string + "}[/TOOL_RESULTS]" }}
    {%- else %}
        {{- raise_exception("Only user, system, assistant and tool roles are supported!") }}
    {%- endif %}
{%- endfor %}
"""

TEMPLATES["qwen2"] = """\
{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system
You are a helpful assistant.<|im_end|>
' }}{% endif %}{{'<|im_start|>' + message['role'] + '
' + message['content'] + '<|im_end|>' + '
'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant
' }}{% endif %}"""

TEMPLATES["qwen25"] = """\
{%- if tools %}
    {{- '<|im_start|>system\\n' }}
    {%- if messages[0]['role'] == 'system' %}
        {{- messages[0]['content'] }}
    {%- else %}
        {{- 'You are a helpful assistant.' }}
    {%- endif %}
    {{- "\\n\\n# Tools\\n\\nSignatures are inside <tools></tools>:\\n<tools>" }}
    {%- for tool in tools %}
        {{- "\\n" }}
        {{- tool | tojson }}
    {%- endfor %}
    {{- "\\n</tools>\\n\\nFor each call give\\n<tool_call>\\n{\\"name\\": <function-name>, \\"arguments\\": <args-json-object>}\\n</tool_call><|im_end|>\\n" }}
{%- else %}
    {%- if messages[0]['role'] == 'system' %}
        {{- '<|im_start|>system\\n' + messages[0]['content'] + '<|im_end|>\\n' }}
    {%- else %}
        {{- '<|im_start|>system\\nYou are a helpful assistant.<|im_end|>\\n' }}
    {%- endif %}
{%- endif %}
{%- for message in messages %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) or (message.role == "assistant" and not message.tool_calls) %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>' + '\\n' }}
    {%- elif message.role == "assistant" %}
        {{- '<|im_start|>' + message.role }}
        {%- if message.content %}
            {{- '\\n' + message.content }}
        {%- endif %}
        {%- for tool_call in message.tool_calls %}
            {%- if tool_call.function is defined %}
                {%- set tool_call = tool_call.function %}
            {%- endif %}
            {{- '\\n<tool_call>\\n{"name": "' }}
            {{- tool_call.name }}
            {{- '", "arguments": ' }}
            {{- tool_call.arguments | tojson }}
            {{- '}\\n</tool_call>' }}
        {%- endfor %}
        {{- '<|im_end|>\\n' }}
    {%- elif message.role == "tool" %}
        {%- if (loop.index0 == 0) or (messages[loop.index0 - 1].role != "tool") %}
            {{- '<|im_start|>user' }}
        {%- endif %}
        {{- '\\n<tool_response>\\n' }}
        {{- message.content }}
        {{- '\\n</tool_response>' }}
        {%- if loop.last or (messages[loop.index0 + 1].role != "tool") %}
            {{- '<|im_end|>\\n' }}
        {%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
{%- endif %}
"""

TEMPLATES["qwen3"] = """\
{%- set ns = namespace(multi_step_tool=true, last_query_index=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.multi_step_tool and message.role == "user" and message.content is string and not(message.content.startswith('<tool_response>') and message.content.endswith('</tool_response>')) %}
        {%- set ns.multi_step_tool = false %}
        {%- set ns.last_query_index = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- if message.content is string %}
        {%- set content = message.content %}
    {%- else %}
        {%- set content = '' %}
    {%- endif %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) %}
        {{- '<|im_start|>' + message.role + '\\n' + content + '<|im_end|>' + '\\n' }}
    {%- elif message.role == "assistant" %}
        {%- set reasoning_content = '' %}
        {%- if message.reasoning_content is string %}
            {%- set reasoning_content = message.reasoning_content %}
        {%- else %}
            {%- if '</think>' in content %}
                {%- set reasoning_content = content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}
                {%- set content = content.split('</think>')[-1].lstrip('\\n') %}
            {%- endif %}
        {%- endif %}
        {%- if loop.index0 > ns.last_query_index %}
            {%- if loop.last or (not loop.last and reasoning_content) %}
                {{- '<|im_start|>' + message.role + '\\n<think>\\n' + reasoning_content.strip('\\n') + '\\n</think>\\n\\n' + content.lstrip('\\n') }}
            {%- else %}
                {{- '<|im_start|>' + message.role + '\\n' + content }}
            {%- endif %}
        {%- else %}
            {{- '<|im_start|>' + message.role + '\\n' + content }}
        {%- endif %}
        {%- if message.tool_calls %}
            {%- for tool_call in message.tool_calls %}
                {%- if (loop.first and content) or (not loop.first) %}
                    {{- '\\n' }}
                {%- endif %}
                {{- '<tool_call>\\n{"name": "' }}
                {{- (tool_call.function or tool_call).name }}
                {{- '", "arguments": ' }}
                {%- if tool_call.function.arguments is string %}
                    {{- tool_call.function.arguments }}
                {%- else %}
                    {{- tool_call.function.arguments | tojson }}
                {%- endif %}
                {{- '}\\n</tool_call>' }}
            {%- endfor %}
        {%- endif %}
        {{- '<|im_end|>\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}
        {{- '<think>\\n\\n</think>\\n\\n' }}
    {%- endif %}
{%- endif %}"""

TEMPLATES["gemma"] = """\
{{ bos_token }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}\
{% for message in messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}\
{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}{% endif %}\
{% if (message['role'] == 'assistant') %}{% set role = 'model' %}{% else %}{% set role = message['role'] %}{% endif %}\
{{ '<start_of_turn>' + role + '
' + message['content'] | trim + '<end_of_turn>
' }}{% endfor %}{% if add_generation_prompt %}{{'<start_of_turn>model
'}}{% endif %}"""

TEMPLATES["gemma3"] = """\
{{ bos_token }}
{%- if messages[0]['role'] == 'system' -%}
    {%- if messages[0]['content'] is string -%}
        {%- set first_user_prefix = messages[0]['content'] + '

' -%}
    {%- else -%}
        {%- set first_user_prefix = messages[0]['content'][0]['text'] + '

' -%}
    {%- endif -%}
    {%- set loop_messages = messages[1:] -%}
{%- else -%}
    {%- set first_user_prefix = "" -%}
    {%- set loop_messages = messages -%}
{%- endif -%}
{%- for message in loop_messages -%}
    {%- if (message['role'] == 'assistant') -%}
        {%- set role = "model" -%}
    {%- else -%}
        {%- set role = message['role'] -%}
    {%- endif -%}
    {{ '<start_of_turn>' + role + '
' + (first_user_prefix if loop.first else "") }}
    {%- if message['content'] is string -%}
        {{ message['content'] | trim }}
    {%- elif message['content'] is iterable -%}
        {%- for item in message['content'] -%}
            {%- if item['type'] == 'image' -%}
                {{ '<start_of_image>' }}
            {%- elif item['type'] == 'text' -%}
                {{ item['text'] | trim }}
            {%- endif -%}
        {%- endfor -%}
    {%- else -%}
        {{ raise_exception("Invalid content type") }}
    {%- endif -%}
    {{ '<end_of_turn>
' }}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{'<start_of_turn>model
'}}
{%- endif -%}
"""

TEMPLATES["phi3"] = """\
{% for message in messages %}{% if message['role'] == 'system' and message['content'] %}{{'<|system|>
' + message['content'] + '<|end|>
'}}{% elif message['role'] == 'user' %}{{'<|user|>
' + message['content'] + '<|end|>
'}}{% elif message['role'] == 'assistant' %}{{'<|assistant|>
' + message['content'] + '<|end|>
'}}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>
' }}{% else %}{{ eos_token }}{% endif %}"""

TEMPLATES["deepseek"] = """\
{% if not add_generation_prompt is defined %}{% set add_generation_prompt = false %}{% endif %}\
{% set ns = namespace(is_first=false, is_tool=false, is_output_first=true, system_prompt='') %}\
{%- for message in messages %}{%- if message['role'] == 'system' %}{% set ns.system_prompt = message['content'] %}{%- endif %}{%- endfor %}\
{{bos_token}}{{ns.system_prompt}}\
{%- for message in messages %}\
{%- if message['role'] == 'user' %}{%- set ns.is_tool = false -%}{{'<｜User｜>' + message['content']}}{%- endif %}\
{%- if message['role'] == 'assistant' and message['content'] is none %}{%- set ns.is_tool = false -%}\
{%- for tool in message['tool_calls']%}{%- if not ns.is_first %}\
{{'<｜Assistant｜><｜tool▁calls▁begin｜>' + tool['type'] + '<｜tool▁sep｜>' + tool['function']['name'] + '\\n' + '```json' + '\\n' + tool['function']['arguments']|tojson + '\\n' + '```'}}\
{%- set ns.is_first = true -%}{%- else %}{{'\\n' + tool['function']['name']}}{%- endif %}{%- endfor %}{%- endif %}\
{%- if message['role'] == 'assistant' and message['content'] is not none %}{% set content = message['content'] %}\
{% if '</think>' in content %}{% set content = content.split('</think>')[-1] %}{% endif %}{{'<｜Assistant｜>' + content + '<｜end▁of▁sentence｜>'}}{%- endif %}\
{%- if message['role'] == 'tool' %}{%- set ns.is_tool = true -%}{{'<｜tool▁output｜>' + message['content'] + '<｜tool▁end｜>'}}{%- endif %}\
{%- endfor -%}\
{% if ns.is_tool %}{{'<｜tool▁outputs▁end｜>'}}{% endif %}\
{% if add_generation_prompt and not ns.is_tool %}{{'<｜Assistant｜>'}}{% endif %}"""

TEMPLATES["macros"] = """\
{%- macro render_typescript(spec, level=0) -%}
    {%- if spec.type == "array" -%}
        {%- if spec['items'] -%}
            {{- render_typescript(spec['items'], level + 1) + "[]" -}}
        {%- else -%}any[]{%- endif -%}
    {%- elif spec.type == "object" -%}
        {{- "{" -}}
        {%- for name, inner in spec.properties.items() -%}
            {{- name -}}{%- if name not in (spec.required or []) -%}?{%- endif -%}{{- ": " -}}
            {{- render_typescript(inner, level=level + 1) -}}
            {%- if not loop.last -%}, {%- endif -%}
        {%- endfor -%}
        {{- "}" -}}
    {%- elif spec.enum is defined -%}
        {{- spec.enum | map('tojson') | join(' | ') -}}
    {%- else -%}
        {{- spec.type | default('any') -}}
    {%- endif -%}
{%- endmacro -%}
{%- for tool in tools %}
  // {{ tool.function.description }}
  type {{ tool.function.name }} = (_: {{ render_typescript(tool.function.parameters) }}) => any;
{%- endfor %}
"""

USER = {"role": "user", "content": "  What's 2 + 2? \"Quoted\" & <tags> é 你好 👩‍🚀\n"}
SYSTEM = {"role": "system", "content": "You are terse.\n"}
ASSISTANT = {"role": "assistant", "content": "<think>\nAdd.\n</think>\n\nIt is 4. "}
CALL = {"role": "assistant", "content": None, "tool_calls": [{"type": "function", "id": "abcdefghi", "function": {
    "name": "weather", "arguments": {"city": "Zürich", "days": 3, "exact": True, "limit": None, "scale": 1.5}}}]}
RESULT = {"role": "tool", "name": "weather", "content": "{\"t\": 21}"}
TOOLS = [{"type": "function", "function": {"name": "weather", "description": "Weather for a city", "parameters": {
    "type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"},
                                     "unit": {"type": "string", "enum": ["C", "F"]},
                                     "tags": {"type": "array", "items": {"type": "string"}}},
    "required": ["city"]}, "return": {"type": "object"}}},
    {"type": "function", "function": {"name": "now", "description": "The time", "parameters": {"type": "object", "properties": {}}}}]
PARTS = {"role": "user", "content": [{"type": "image"}, {"type": "text", "text": " Look! "}]}

CONVERSATIONS = [
    {"messages": [USER], "add_generation_prompt": True},
    {"messages": [SYSTEM, USER], "add_generation_prompt": True},
    {"messages": [USER, ASSISTANT, USER], "add_generation_prompt": True},
    {"messages": [SYSTEM, USER, ASSISTANT], "add_generation_prompt": False},
    {"messages": [USER, CALL, RESULT], "add_generation_prompt": True, "tools": TOOLS},
    {"messages": [SYSTEM, USER, CALL, RESULT, RESULT, ASSISTANT, USER], "add_generation_prompt": True, "tools": TOOLS},
    {"messages": [USER, USER], "add_generation_prompt": False},
    {"messages": [PARTS], "add_generation_prompt": True},
    {"messages": [USER], "add_generation_prompt": True, "enable_thinking": False, "date_string": "1 Jan 2025",
     "builtin_tools": ["search", "code_interpreter"]},
    {"messages": [], "add_generation_prompt": True},
]

# The language, a piece at a time.
SNIPPETS = [
    "{{ 1 + 2 * 3 - 4 // 3 }} {{ 7 % 3 }} {{ -7 % 3 }} {{ -7 // 2 }} {{ 7 / 2 }} {{ 2 ** 10 }} {{ -2 ** 2 }} {{ 2 ** 3 ** 2 }}",
    "{{ 1.0 }} {{ 1e16 }} {{ 1.5e-7 }} {{ 0.1 + 0.2 }} {{ 1e15 }} {{ 100000.0 }} {{ 1/3 }} {{ 10 ** -2 }} {{ 1_000 }}",
    "{{ 'a' ~ 1 ~ none ~ true ~ 1.5 }} {{ 'ab' * 3 }} {{ 3 * 'x' }} {{ [1] + [2, 3] }} {{ (1,) + (2,) }}",
    "{{ 1 < 2 < 3 }} {{ 1 < 3 < 2 }} {{ 1 == 1.0 }} {{ 'a' < 'b' }} {{ [1, 2] < [1, 3] }} {{ true == 1 }} {{ 'a' != 'b' }}",
    "{{ 'a' in 'abc' }} {{ 'x' not in 'abc' }} {{ 1 in [1, 2] }} {{ 'k' in {'k': 1} }} {{ 2 in (1, 2) }}",
    "{{ not true }} {{ true and 0 }} {{ 0 or 'x' }} {{ none or '' }} {{ not none and 1 }} {{ 1 and not 0 }}",
    "{{ 'yes' if true else 'no' }} {{ 'yes' if false }}| {{ 1 if 0 else 2 if 0 else 3 }}",
    "{{ [1, 'two', 3.0, none, true, {'k': 'v'}, (1, 2)] }} {{ {'a': 1, \"b\": [2]} }} {{ (1,) }} {{ () }} {{ 'it\\'s' }} {{ [\"it's\", 'q\"', \"b'\\\"\"] }}",
    "{{ 'héllo wörld'[1] }} {{ 'héllo'[-1] }} {{ 'héllo'[1:3] }} {{ 'héllo'[::-1] }} {{ 'héllo'[:-2] }} {{ [1,2,3,4][1::2] }} {{ [1,2,3][-2:] }} {{ [1,2,3][10:] }} {{ 'abc'[::2] }}",
    "{{ '  x '.strip() }}|{{ 'xxaxx'.strip('x') }}|{{ '--a'.lstrip('-') }}|{{ 'a..'.rstrip('.') }}|{{ ' a b  c '.split() }}|{{ 'a,b,,c'.split(',') }}|{{ 'a,b,c'.split(',', 1) }}|{{ 'a b c'.split(none, 1) }}|{{ 'a,b,c'.rsplit(',', 1) }}",
    "{{ 'abc'.startswith('ab') }} {{ 'abc'.endswith(('x', 'c')) }} {{ 'aXbX'.replace('X', '-') }} {{ 'aXbX'.replace('X', '', 1) }} {{ 'hello world'.title() }} {{ 'ÉCOLE ß'.lower() }} {{ 'école ß'.upper() }} {{ 'hELLO'.capitalize() }}",
    "{{ 'a-b'.join(['1', '2']) }} {{ 'hello'.find('l') }} {{ 'hello'.rfind('l') }} {{ 'héllo'.index('l') }} {{ 'hello'.count('l') }} {{ '12'.isdigit() }} {{ 'ab'.isalpha() }} {{ 'A'.isupper() }} {{ ' '.isspace() }} {{ 'a=b=c'.partition('=') }} {{ 'a=b=c'.rpartition('=') }} {{ '5'.zfill(3) }} {{ 'prefix-x'.removeprefix('prefix-') }}",
    "{{ {'a': 1, 'b': 2}.items() | list }} {{ {'a': 1}.keys() | list }} {{ {'a': 1}.values() | list }} {{ {'a': 1}.get('a') }} {{ {'a': 1}.get('b') }} {{ {'a': 1}.get('b', 3) }}",
    "{{ [1, 2, 2].count(2) }} {{ [1, 2].index(2) }} {{ 'line1\\nline2\\r\\nline3'.splitlines() }}",
    "{{ '  x ' | trim }}|{{ 'xax' | trim('x') }}|{{ [1,2,3] | length }}|{{ 'héllo' | length }}|{{ {'a': 1} | count }}|{{ 'abc' | upper }}|{{ 'ABC' | lower }}|{{ 'hello WORLD' | capitalize }}|{{ \"it's a (test) of-title\" | title }}",
    "{{ undefined_name | default('d') }} {{ '' | default('d') }}| {{ '' | default('d', true) }} {{ none | d('x', boolean=true) }} {{ 0 | default(5) }}",
    "{{ {'b': [1, 2.5, none, true], 'a': {'x': 'é\"\\n\\t\\\\/<&>\\u0001'}} | tojson }}",
    "{{ {'b': [1, {'c': []}], 'a': {}} | tojson(indent=2) }}|{{ {'b': 1, 'a': 2} | tojson(sort_keys=true) }}|{{ [1, 2] | tojson(separators=(',', ':')) }}|{{ 'é👩' | tojson(ensure_ascii=true) }}|{{ [] | tojson(indent=4) }}",
    "{{ [1, 'a', none] | join(', ') }} {{ [{'n': 1}, {'n': 2}] | join('-', attribute='n') }} {{ [1, 2, 3] | first }} {{ [1, 2, 3] | last }} {{ 'abc' | first }} {{ [] | first }}|{{ 'aba' | replace('a', 'x') }} {{ 'aba' | replace('a', 'x', 1) }}",
    "{{ 42 | string + 'x' }} {{ '42' | int + 1 }} {{ 'x' | int }} {{ 'x' | int(7) }} {{ '3.7' | int }} {{ 3.9 | int }} {{ '2.5' | float }} {{ ' 7 ' | int }} {{ true | int }}",
    "{{ [{'a': 1, 'b': 'x'}, {'a': 2}] | map(attribute='a') | list }} {{ [{'a': 1, 'b': 'x'}, {'a': 2}] | map(attribute='b', default='?') | list }} {{ ['a', 'b'] | map('upper') | join }} {{ [' a '] | map('trim') | list }} {{ [{'a': {'b': [5]}}] | map(attribute='a.b.0') | list }}",
    "{{ [1, 2, 3, 4] | select('odd') | list }} {{ [1, 2, 3] | reject('equalto', 2) | list }} {{ [{'r': 'u'}, {'r': 's'}, {}] | selectattr('r', 'equalto', 'u') | list }} {{ [{'r': 'u'}, {}] | selectattr('r', 'defined') | list }} {{ [{'r': 1}, {'r': 0}] | rejectattr('r') | list }} {{ [0, 1, '', 'a'] | select | list }} {{ [1, 5] | select('gt', 2) | list }} {{ ['a', 'b'] | select('in', ['b']) | list }}",
    "{{ [3, 1, 2] | sort }} {{ ['b', 'A', 'c'] | sort }} {{ ['b', 'A', 'c'] | sort(case_sensitive=true) }} {{ [3, 1, 2] | sort(reverse=true) }} {{ [{'k': 2}, {'k': 1}] | sort(attribute='k') }} {{ {'b': 1, 'a': 2} | dictsort }} {{ {'b': 1, 'a': 2} | dictsort(by='value') }} {{ ['a', 'A', 'b', 'a'] | unique | list }}",
    "{{ [1, 2, 3] | sum }} {{ [{'n': 1.5}, {'n': 2}] | sum(attribute='n') }} {{ [3, 1] | min }} {{ [3, 1] | max }} {{ -3 | abs }} {{ 2.5 | round }} {{ 3.14159 | round(2) }} {{ 2.1 | round(0, 'ceil') }} {{ 'abc' | reverse }} {{ [1, 2] | reverse | list }} {{ [1, 2, 3] | batch(2) | list }} {{ [1, 2, 3] | batch(2, 'x') | list }} {{ 'a b c' | wordcount }}",
    "{{ 'a\\nb\\n\\nc' | indent }}|{{ 'a\\nb' | indent(2, true) }}|{{ 'a\\n\\nb' | indent(width=1, blank=true) }}|{{ 'a\\nb\\n' | indent('>') }}|{{ '<a href=\"x\">&\\'' | e }}|{{ 'x' | safe }}|{{ 'abc' | list }}|{{ {'x': 1} | list }}|{{ {'x': 1} | items | list }}",
    "{{ 1 is number }} {{ 1 is integer }} {{ true is integer }} {{ 1.0 is float }} {{ 'a' is string }} {{ [] is iterable }} {{ {} is mapping }} {{ none is none }} {{ x is defined }} {{ x is undefined }} {{ x is not defined }} {{ true is true }} {{ 1 is true }} {{ false is false }} {{ [] is sequence }} {{ true is boolean }} {{ range is callable }}",
    "{{ 4 is even }} {{ 4 is odd }} {{ 9 is divisibleby 3 }} {{ 9 is divisibleby(2) }} {{ 1 is eq 1 }} {{ 1 is ne 1 }} {{ 1 is lt 2 }} {{ 2 is ge(2) }} {{ 'a' is in ['a'] }} {{ 'a' is equalto 'a' }} {{ none is sameas none }} {{ 'abc' is lower }} {{ 'ABC' is upper }} {{ not 1 is none and 2 is not none }}",
    "{% for i in [1, 2, 3] %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.previtem }}{{ loop.nextitem }}{{ loop.cycle('a', 'b') }};{% endfor %}",
    "{% for a, b in [(1, 2), (3, 4)] %}{{ a }}-{{ b }} {% endfor %}{% for k, v in {'x': 1, 'y': 2}.items() %}{{ k }}={{ v }} {% endfor %}{% for k in {'x': 1} %}{{ k }}{% endfor %}{% for c in 'hé' %}[{{ c }}]{% endfor %}",
    "{% for i in [] %}x{% else %}empty{% endfor %}{% for i in [1, 2, 3, 4] if i % 2 == 0 %}{{ i }}/{{ loop.length }} {% else %}none{% endfor %}{% for i in range(5) %}{% if i == 1 %}{% continue %}{% endif %}{% if i == 3 %}{% break %}{% endif %}{{ i }}{% endfor %}",
    "{% for i in range(3) %}{% for j in range(2) %}{{ loop.depth }}{{ loop.depth0 }}{{ i }}{{ j }} {% endfor %}{% endfor %}{{ range(2, 10, 3) | list }} {{ range(3, 0, -1) | list }}",
    "{% set x = 1 %}{% for i in [1, 2] %}{% set x = x + i %}{{ x }} {% endfor %}{{ x }}{% if true %}{% set x = 9 %}{% endif %}{{ x }}",
    "{% set ns = namespace(n=0, s='') %}{% for i in [1, 2, 3] %}{% set ns.n = ns.n + i %}{% set ns.s = ns.s ~ i %}{% endfor %}{{ ns.n }} {{ ns.s }} {{ ns.q is defined }}",
    "{% set a, b = 1, 2 %}{{ a }}{{ b }}{% set t = 1, 2 %}{{ t }}{% set block %}  in {{ a }} {% endset %}[{{ block }}]{% set up | upper | trim %} x{% endset %}[{{ up }}]{{ dict(a=1, b='c') }}",
    "{% macro m(a, b='d', c=none) %}({{ a }},{{ b }},{{ c }}){% endmacro %}{{ m(1) }}{{ m(1, 2) }}{{ m(1, c=3) }}{{ m() }}{% macro f(n) %}{{ n }}{% if n > 0 %}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(3) | length }}",
    "{% set g = 'global' %}{% macro m() %}{{ g }}{{ h }}{% endmacro %}{% set h = '!' %}{{ m() }}{% for i in [1] %}{% macro inner(x) %}{{ x }}{{ i }}{% endmacro %}{{ inner('y') }}{% endfor %}",
    "a{# comment #}b\n  {# line #}\nc\n{%- raw %} {{ not }} {% this %} {% endraw -%}\n d",
    "  {% if true %}\n    body\n  {% endif %}\nend\n",
    "x {% if true %} y {% endif %} z\n  {%+ if true %}\n q {% endif +%}\n r\n\n",
    "x  \n {{- 'a' -}} \n y {{ 'b' -}}\n\n z\n{{- 'c' }}\n\n{% if 1 -%}\n  w\n{%- endif %}\n\nend\n\n",
    "{% if false %}a{% elif 0 %}b{% elif [] %}c{% else %}d{% endif %}{% if '' %}x{% endif %}{{ 'a' 'b' }}{{ \"x\\ty\\\\z\\x41\\u00e9\\101\" }}",
    "{{ {'a': {'b': [10, 20]}}.a.b[1] }} {{ {'items': 5}['items'] }} {{ {'a': 1}['zz'] is defined }} {{ missing }}| {{ [1, 2][5] is defined }} {{ {'a b': 1}['a b'] }} {{ [[1, 2], [3]].0.1 }}",
    "{{ '%}' }}{{ '}}' }}{{ {'a': {'b': 1}}['a'] }}{% set d = {'x': {}} %}{{ d }}",
    "{{ 'a' if x is defined and x else 'b' }} {{ (1, 2) | length }} {{ ['a', 'b'][0] ~ 'c' | upper }} {{ -1 | abs }} {{ 5 - -3 }} {{ +4 }} {{ not (1 == 2) }}",
    "{{ 'é\\u200b\\x7f\\u00a0' | list }} {{ ['\\n', '\\t', '\\\\', '\\x00'] }}",
    "{{ raise_exception('no') }}", "{{ missing.attribute }}", "{{ missing['x'] }}", "{{ missing() }}", "{{ 'a' + 1 }}", "{{ 1 / 0 }}",
    "{{ missing + 'a' }}", "{% for i in 5 %}{% endfor %}", "{{ none.x }}|", "{{ none | length }}", "{{ [1, 'a'] | sort }}",
    "{{ x | nofilter }}", "{{ x is notest }}", "{% endfor %}", "{% if %}{% endif %}", "{{ 'open }}", "{{ (1 }}", "{% if 1 %}", "{{ 1 2 }}",
    "{% set l = [1] %}{{ l.append(2) }}", "{{ {'a': 1}.update({'b': 2}) }}", "{{ range(200000) | length }}", "{% break %}", "{{ }}",
]


def rendered(source, variables):
    try:
        return {"expected": ENVIRONMENT.from_string(source).render(**variables)}
    except Exception as error:  # any failure there must be one here
        return {"error": f"{type(error).__name__}: {error}"[:200]}


def main():
    tokens = {"bos_token": "<s>", "eos_token": "</s>"}
    cases = []
    for name in TEMPLATES:
        for conversation in CONVERSATIONS:
            variables = {**conversation, **tokens, "tools": conversation.get("tools")}
            cases.append({"template": name, "variables": variables, **rendered(TEMPLATES[name], variables)})
    snippets = [{"source": source, **rendered(source, {})} for source in SNIPPETS]
    parts = [f'"made_by": "jinja2 {jinja2.__version__}"', f'"templates": {json.dumps(TEMPLATES, indent=0)}']
    for key, entries in (("cases", cases), ("snippets", snippets)):
        parts.append(f'"{key}": [\n' + ",\n".join(json.dumps(entry) for entry in entries) + "\n]")
    (HERE / "chat_templates.json").write_text("{\n" + ",\n".join(parts) + "\n}\n")
    failed = sum("error" in case for case in cases)
    print(f"{len(cases)} renderings ({failed} refused), {len(snippets)} snippets")


if __name__ == "__main__":
    main()
