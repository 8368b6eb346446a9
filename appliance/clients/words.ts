// Names in the spellings of the languages: the description has `kebab-case`, `camelCase` and plain words.

/**
 * `transit keys`, `transit-keys` or `transitKeys` as `['transit', 'keys']`. Runs of capitals are one word: `TLSCAState` is `tlsca-state`.
 */
export function wordsOf(name: string): readonly string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase());
}

/** `transitKeys` */
export function camelCase(name: string): string {
  return pascalCase(name).replace(/^./, (letter) => letter.toLowerCase());
}

/** `TransitKeys` */
export function pascalCase(name: string): string {
  return wordsOf(name)
    .map((word) => word.replace(/^./, (letter) => letter.toUpperCase()))
    .join('');
}

/** Lines of at most `width` characters, broken between words; a line break of the text stays one. */
export function wrapLines(text: string, width: number): readonly string[] {
  return text.split('\n').flatMap((paragraph) => {
    const lines: string[] = [];
    let line = '';
    for (const word of paragraph.split(' ')) {
      if (line !== '' && line.length + 1 + word.length > width) {
        lines.push(line);
        line = word;
      } else line = line === '' ? word : `${line} ${word}`;
    }
    return [...lines, line];
  });
}

/** `transit_keys` */
export function snakeCase(name: string): string {
  return wordsOf(name).join('_');
}
