#!/usr/bin/env python3
"""Makes the small tokenizers and the expected ids in this folder.

Needs the package tokenizers==0.23.3. Run from the repository root:
    python test/data/text/make_tokenizers.py
It trains on the samples below, so the files are small, and records what the package answers for every sample.
"""
import json
import pathlib
import random

import tokenizers
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

HERE = pathlib.Path(__file__).parent
SMOLLM2 = HERE.parent / "models" / "smollm2-135m-instruct" / "tokenizer.json"

SAMPLES = [
    "",
    " ",
    "Hello, world!",
    "The quick brown fox jumps over the lazy dog. It's, they'll, we've, I'm, don't, you'd, they're.",
    "IT'S THEY'LL WE'VE \u017fpecial long s: 'ſ 'S",
    "Zażółć gęślą jaźń. Größe, Straße, naïve café, ÆØÅ, İstanbul ıI.",
    "e\u0301 vs \u00e9, a\u030a\u0323 vs \u1ea1\u030a, \u1100\u1161\u11a8 vs \uac01, \ufb01 ligature, \u2460 \u00bd \u2167 x\u00b2",
    "你好，世界！今天天气很好。漢字かな交じり文、カタカナｶﾀｶﾅ。한국어 문장입니다.",
    "مرحبا بالعالم، كيف حالك؟ ١٢٣٤ لُغَةٌ عَرَبِيَّة \u200f\u202bRTL\u202c",
    "नमस्ते दुनिया, क्षत्रिय १२३ हिन्दी. বাংলা ভাষা. தமிழ். ไทยภาษา ทดสอบ",
    "שלום עולם, Привет, мир! Γειά σου Κόσμε. ქართული. Հայերեն",
    "👨‍👩‍👧‍👦 family, 👩🏽‍🚀 astronaut, 🏳️‍🌈 flag, 🇩🇪🇫🇷, ❤️ 🤷🏻‍♂️ 1️⃣ 🫠",
    "def f(x):\n    if x == 0:\n\t\treturn {'a': [1, 2.5e-3, 0xFF]}  # comment\n    return f(x-1) ** 2\n",
    "int main(){\r\n  std::vector<int> v{1,2,3}; // done\r\n  return v[0]!=1?-1:0;\r\n}\r\n\r\n",
    "<html><body class=\"a b\">&amp; &#39;</body></html> https://example.org/path?q=1&r=%20#x",
    "0 1 12 123 1234 12345 123456 3.14159 1,000,000 ٣٤ ①② Ⅷ ½",
    "tabs\t\t\tand   spaces      and\n\n\nnewlines \n \n\t\n end   ",
    "   leading and trailing   ",
    " " * 70 + "x" + " " * 33,
    "\n" * 20 + "\t" * 17 + "\r\n" * 5,
    "no-break\u00a0space, thin\u2009space, ideographic\u3000space, mongolian\u180evowel, zero\u200bwidth, line\u2028sep\u0085nel\ufeffbom",
    "nul\x00 bell\x07 esc\x1b[31m del\x7f vt\x0b ff\x0c unit\x1f c1\x9b",
    "<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n",
    "a<|endoftext|>b <|endoftext|> c<|im_end|><|im_end|>",
    "<|im_start|><|im_start <|im_sta<|im_start|>> <|endof text|>",
    "[MASK]  [MASK] x[MASK]y <tool> a<tool> <tool>b  <tool>  word wordy sword (word) ÉTÉ É\u0301TE\u0301",
    "<s>[INST] Hi [/INST] Hello </s><unk>▁",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "ababababababababcabcabcabcabcabc" * 6,
    "supercalifragilisticexpialidocious antidisestablishmentarianism pneumonoultramicroscopicsilicovolcanoconiosis",
    "\U0010ffff\U000e0001\uffff\ufffd\ue000 private \U0001f9d1\U00020000𠮷野家 𝒜𝓃𝒹 𝟘𝟙𝟚",
    "!!!???...---___***///\\\\\\|||~~~```'''\"\"\" #$%^&*()_+-=[]{};:<>,.?/",
    "snake_case camelCase PascalCase kebab-case SCREAMING_CASE a_b__c x1y2z3 ABCdefGHI",
    "Ω≈ç√∫˜µ≤≥÷ ∀x∈ℝ: ⌈x⌉ = −⌊−x⌋ ∑ ⅀ € £ ¥ ₿ © ® ™ § ¶ † ‡ • … ‰",
    "Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L̠ͨͧͩ͘G̴̻͈͍͔̹̑͗̎̅͛́Ǫ̵̹̻̝̳͂̌̌͘",
    "'''s 's's 't 'LL 'll'll x's\u2019s don\u2019t",
    "a \n b\n  c \n\n d\r\n\r\n e\u2028\u2028f  \u3000 g",
]


def special(*texts):
    return [AddedToken(text, special=True) for text in texts]


def trained(tokenizer, size, tokens=(), alphabet=True, **options):
    initial = pre_tokenizers.ByteLevel.alphabet() if alphabet else []
    trainer = trainers.BpeTrainer(vocab_size=size, show_progress=False, initial_alphabet=sorted(initial),
                                  special_tokens=list(tokens), **options)
    tokenizer.train_from_iterator(SAMPLES * 2, trainer)
    return tokenizer


def gpt2_style():
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    t.decoder = decoders.ByteLevel()
    t.post_processor = processors.RobertaProcessing(("</s>", 1), ("<s>", 0), trim_offsets=True)
    trained(t, 600, special("<s>", "</s>", "<|endoftext|>"))
    t.add_tokens([AddedToken("[MASK]", lstrip=True), AddedToken("<tool>", rstrip=True),
                  AddedToken("word", single_word=True)])
    return t


def llama3_style():
    t = Tokenizer(models.BPE(ignore_merges=True))
    words = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
             r"|\s+(?!\S)|\s+")
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(words), "isolated"),
                                               pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    t.decoder = decoders.ByteLevel()
    trained(t, 560)
    # A whole word that no merge makes, which ignore_merges finds all the same.
    data = json.loads(t.to_str())
    data["model"]["vocab"]["\u0120antidisestablishmentarianism"] = t.get_vocab_size()
    t = Tokenizer.from_str(json.dumps(data))
    t.add_special_tokens(special("<|im_start|>", "<|im_end|>", "<|endoftext|>"))
    begin = t.token_to_id("<|im_start|>")
    t.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=False),
        processors.TemplateProcessing(single="<|im_start|> $A", special_tokens=[("<|im_start|>", begin)])])
    return t


def qwen_style():
    t = Tokenizer(models.BPE())
    words = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
             r"|\s+(?!\S)|\s+")
    t.normalizer = normalizers.NFC()
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(words), "isolated"),
                                               pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    t.decoder = decoders.ByteLevel()
    t.post_processor = processors.ByteLevel(trim_offsets=False)
    trained(t, 540)
    t.add_special_tokens(special("<|endoftext|>", "<|im_start|>", "<|im_end|>"))
    t.add_tokens([AddedToken("É\u0301TE", normalized=True), AddedToken("<tool>", normalized=False)])
    return t


def llama2_style():
    t = Tokenizer(models.BPE(byte_fallback=True, fuse_unk=True, unk_token="<unk>"))
    t.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    t.pre_tokenizer = pre_tokenizers.Split("▁", "merged_with_next")
    trained(t, 560, special("<unk>", "<s>", "</s>") + [f"<0x{b:02X}>" for b in range(256)], alphabet=False,
            limit_alphabet=90)
    t.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", t.token_to_id("<s>"))])
    t.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(),
                                   decoders.Strip(" ", 1, 0)])
    # No merge crosses words here; the reference files have no pre-tokenizer, as has this one.
    data = json.loads(t.to_str())
    data["pre_tokenizer"] = None
    data["added_tokens"] = [a for a in data["added_tokens"] if not a["content"].startswith("<0x")]
    return Tokenizer.from_str(json.dumps(data))


def o200k_style():
    t = Tokenizer(models.BPE())
    words = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
             r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
             r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(words), "removed", invert=True),
                                               pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    t.decoder = decoders.ByteLevel()
    trained(t, 540)
    return t


def mixed(name, normalizer, pre, **model):
    """Small tokenizers that exercise one kind of normalizer and splitter each."""
    t = Tokenizer(models.BPE(unk_token="[UNK]", **model))
    if normalizer:
        t.normalizer = normalizer
    t.pre_tokenizer = pre
    t.decoder = decoders.Sequence([decoders.Strip("a", 1, 0), decoders.Replace(Regex("[xy]"), "<>"), decoders.Fuse(),
                                   decoders.Replace("ab", "-"), decoders.Strip("-", 2, 0)])
    t.post_processor = processors.BertProcessing(("[UNK]", 0), ("[UNK]", 0))
    options = {"continuing_subword_prefix": model["continuing_subword_prefix"]} if "continuing_subword_prefix" in model else {}
    if "end_of_word_suffix" in model:
        options["end_of_word_suffix"] = model["end_of_word_suffix"]
    return name, trained(t, 260, special("[UNK]"), alphabet=False, limit_alphabet=120, **options)


def all_mixed():
    P, N = pre_tokenizers, normalizers
    yield mixed("mixed_lower", N.Sequence([N.NFKD(), N.StripAccents(), N.Lowercase(), N.Strip()]),
                P.Sequence([P.WhitespaceSplit(), P.Punctuation("merged_with_previous")]), continuing_subword_prefix="##")
    yield mixed("mixed_nfd", N.Sequence([N.NFD(), N.Replace(Regex(r"\s+"), "_"), N.Replace("a", "bb")]),
                P.Digits(individual_digits=False), end_of_word_suffix="</w>")
    yield mixed("mixed_nfkc", N.Sequence([N.NFKC(), N.Lowercase()]), P.Whitespace())
    yield mixed("mixed_contiguous", None, P.Sequence([P.Split(Regex(r"\p{L}"), "contiguous"), P.Punctuation("contiguous")]),
                fuse_unk=True)
    yield mixed("mixed_next", None, P.Sequence([P.Split(" ", "merged_with_next"), P.Split(Regex(r"\w{2}+|\h"), "merged_with_previous")]))
    yield mixed("mixed_anchors", None, P.Sequence([P.Split(Regex(r"^\s*|,$|\d"), "isolated"), P.Split(Regex(r"[\s\w]+"), "removed", invert=True)]))
    yield mixed("mixed_bytes", N.ByteLevel(), P.Split(Regex("Ġ"), "merged_with_next"))


def streams(t, count=40):
    """Random ids, so that characters break anywhere."""
    draw = random.Random(5)
    out = []
    for _ in range(count):
        ids = [draw.randrange(t.get_vocab_size() + 2) for _ in range(draw.randrange(1, 25))]
        out.append({"ids": ids, "text": t.decode(ids, skip_special_tokens=False),
                    "plain": t.decode(ids, skip_special_tokens=True)})
    return out


def record(name, t):
    cases = []
    for text in SAMPLES:
        ids = t.encode(text, add_special_tokens=False).ids
        cases.append({"text": text, "ids": ids, "with_special": t.encode(text, add_special_tokens=True).ids,
                      "decoded": t.decode(ids, skip_special_tokens=False),
                      "plain": t.decode(ids, skip_special_tokens=True)})
    data = {"made_by": f"tokenizers {tokenizers.__version__}", "cases": cases, "streams": streams(t)}
    lines = ["{", f'"made_by": {json.dumps(data["made_by"])},']
    for key, last in (("cases", False), ("streams", True)):
        body = ",\n".join(json.dumps(entry) for entry in data[key])
        lines.append(f'"{key}": [\n{body}\n]' + ("" if last else ","))
    (HERE / f"{name}.expected.json").write_text("\n".join(lines) + "\n}\n")


def main():
    made = [("gpt2_style", gpt2_style()), ("llama3_style", llama3_style()), ("qwen_style", qwen_style()),
            ("llama2_style", llama2_style()), ("o200k_style", o200k_style()), *all_mixed()]
    for name, t in made:
        (HERE / f"{name}.tokenizer.json").write_text(json.dumps(json.loads(t.to_str())) + "\n")
        record(name, t)
    record("smollm2", Tokenizer.from_file(str(SMOLLM2)))


if __name__ == "__main__":
    main()
