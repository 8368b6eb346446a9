// Texts of the appliance in the language of the page: none in English, in which they come. The build of another language has a module of its
// own in place of this one.

/** Titles of refusals, by their codes. */
export const titlesOfRefusals: Readonly<Record<string, string>> = {};

/** Sentences and descriptions, by the English ones; `{0}`, `{1}` stand for what is inserted. */
export const sentences: Readonly<Record<string, string>> = {};
