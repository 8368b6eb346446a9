// The language of the page, which the appliance chose when it sent it, and how numbers and times are written in it. The texts are in the
// sources in English; the build writes others in their place (`words/`).
import { languageCookie, type Language } from '../../../../core/http/pages/language.ts';

export { languages } from '../../../../core/http/pages/language.ts';

/** Each in its own words. */
export const languageNames: Readonly<Record<Language, string>> = { en: 'English', de: 'Deutsch' };

/** Language that the page declares; English where there is no page, as in a test. */
export const language: Language = typeof document !== 'undefined' && document.documentElement?.lang === 'de' ? 'de' : 'en';

/** The reader's own kind of that language: dates of `en-GB` are not those of `en-US`. */
export const locale = navigator.languages.find((one) => one === language || one.startsWith(`${language}-`)) ?? language;

/** Loads the page again in another language, which the next ones are in as well. */
export function speak(wanted: Language): void {
  document.cookie = `${languageCookie}=${wanted}; path=/; secure; samesite=strict; max-age=31536000`;
  location.reload();
}

/** Marks a text for people that reads like code, for the translation: a single word in small letters. */
export function said(text: string): string {
  return text;
}

/** A title inside of a sentence: in German, nouns keep their capitals. */
export function inSentence(title: string): string {
  return language === 'de' ? title : title.toLowerCase();
}
