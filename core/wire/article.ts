// The indefinite article by pronunciation: "an approle", "an EC key", "an RSA key", "a user".

/** The phrase with its article. Abbreviations are pronounced letter by letter. */
export function withArticle(phrase: string): string {
  return `${takesAn(phrase) ? 'an' : 'a'} ${phrase}`;
}

function takesAn(phrase: string): boolean {
  if (spelledOut.test(phrase)) return /^[aefhilmnorsx]/i.test(phrase);
  return /^[aeiou]/i.test(phrase) && !/^(?:eu|one\b|uni|us(?:e|u)|uu?id|url)/i.test(phrase);
}

/** Capitals and digits, and names of algorithms that are written in lower case. */
const spelledOut = /^(?:[A-Z][A-Z\d]*(?![a-z])|(?:rsa|dsa|dh|ml|slh|hmac|x25519|x448|sm2)(?![a-z]))/;
