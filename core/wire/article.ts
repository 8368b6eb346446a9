// The article in front of a word, as it is spoken: "an approle", "an EC key", "an RSA key", "a user".

/** The phrase with its article. Abbreviations are spelled out, letter by letter. */
export function withArticle(phrase: string): string {
  return `${takesAn(phrase) ? 'an' : 'a'} ${phrase}`;
}

function takesAn(phrase: string): boolean {
  if (spelledOut.test(phrase)) return /^[aefhilmnorsx]/i.test(phrase);
  return /^[aeiou]/i.test(phrase) && !/^(?:eu|one\b|uni|us(?:e|u)|uu?id|url)/i.test(phrase);
}

/** Capitals and digits, and the names of algorithms that are written small. */
const spelledOut = /^(?:[A-Z][A-Z\d]*(?![a-z])|(?:rsa|dsa|dh|ml|slh|hmac|x25519|x448|sm2)(?![a-z]))/;
