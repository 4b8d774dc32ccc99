// Counts the tokens of each text of a JSON list on standard input, with every tokenizer.
import { createRequire } from "node:module";
import { text } from "node:stream/consumers";

const require = createRequire(`${process.env.PEER_PACKAGES}/`);
const counts = [
  require("gpt-tokenizer/encoding/o200k_base").countTokens,
  require("gpt-tokenizer/encoding/cl100k_base").countTokens,
  require("@anthropic-ai/tokenizer").countTokens,
];
const texts = JSON.parse(await text(process.stdin));
console.log(JSON.stringify(texts.map((one) => counts.map((count) => count(one)))));
