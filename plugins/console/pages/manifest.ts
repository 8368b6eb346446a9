// Names of the files in which the build says what it made: between it and the process that serves.
import type { Language } from '../../../core/http/pages/language.ts';

/** The manifest of a language. */
export function manifestOf(language: Language): string {
  return language === 'en' ? 'manifest.json' : `manifest.${language}.json`;
}

/** Ending of the copy of a file that is compressed with Brotli: of the highest quality, for which there is no time when it is asked for. */
export const compressedEnding = '.br';
