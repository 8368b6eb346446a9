// Writes manual pages: text with the few requests of man(7) that every reader of manuals knows.

/** A page as a package has it: `man1/keystorectl.1`. */
export type PageFile = { readonly path: string; readonly text: string };

export type PageTitle = {
  readonly name: string;
  /** 1 for commands, 8 for daemons */
  readonly section: 1 | 8;
  /** program and version */
  readonly source: string;
  /** `2026-11-22` */
  readonly date: string;
};

/** A page in parts; text is plain, and everything that roff would read as its own is written so that it is not. */
export class ManualPage {
  readonly #title: PageTitle;
  readonly #lines: string[];

  constructor(title: PageTitle) {
    this.#title = title;
    const { name, section, date, source } = title;
    this.#lines = [`.TH ${quoted(name.toUpperCase())} ${section} "${date}" ${quoted(source)} ${quoted('keystored manual')}`];
    // Options and names of variables stay in one piece.
    this.#lines.push('.nh', '.ad l');
  }

  /** NAME: the line that whatis and apropos find. */
  name(summary: string): this {
    this.#lines.push('.SH NAME', `${escaped(this.#title.name)} \\- ${escaped(summary.replaceAll(/\s+/g, ' '))}`);
    return this;
  }

  section(title: string): this {
    this.#lines.push(`.SH ${quoted(title.toUpperCase())}`);
    return this;
  }

  subsection(title: string): this {
    this.#lines.push(`.SS ${quoted(title)}`);
    return this;
  }

  /** Paragraphs, separated by empty lines. */
  text(text: string): this {
    for (const paragraph of text.trim().split(/\n{2,}/)) this.#lines.push(...this.#paragraph(), ...proseOf(paragraph));
    return this;
  }

  /** A line as it is typed, in bold. */
  synopsis(line: string): this {
    this.#lines.push(...this.#paragraph(), `.B ${quoted(line)}`);
    return this;
  }

  /** A term in bold, and below it its meaning. */
  item(term: string, text: string): this {
    this.#lines.push('.TP', `.B ${quoted(term)}`, ...proseOf(text));
    return this;
  }

  /** Lines as they are, for text that is laid out already. */
  literal(text: string): this {
    this.#lines.push(...this.#paragraph(), '.nf', ...text.trimEnd().split('\n').map(lineOf), '.fi');
    return this;
  }

  /** A heading begins a paragraph already. */
  #paragraph(): readonly string[] {
    return /^\.S[HS] /.test(this.#lines.at(-1) ?? '') ? [] : ['.PP'];
  }

  /** Other pages, in one paragraph. */
  seeAlso(names: readonly (readonly [name: string, section: number])[]): this {
    const references = names.map(([name, section], index) => `.BR ${quoted(name)} (${section})${index < names.length - 1 ? ' ,' : ''}`);
    this.section('See also').#lines.push(...references);
    return this;
  }

  file(): PageFile {
    const { name, section } = this.#title;
    return { path: `man${section}/${name}.${section}`, text: `${this.#lines.join('\n')}\n` };
  }
}

/** One sentence a line, as roff wants it: its space is for the typesetter to choose. */
function proseOf(text: string): string[] {
  return text
    .replaceAll(/\s+/g, ' ')
    .trim()
    .split(/(?<=[.:;!?]) (?=[A-Z`"(])/)
    .map(lineOf);
}

/** A line that begins no request: an empty one would be a break, a point or an apostrophe a command. */
function lineOf(line: string): string {
  const text = escaped(line.trimEnd());
  if (text === '') return '\\&';
  return /^[.']|^\\\(aq/.test(text) ? `\\&${text}` : text;
}

/** An argument of a request. */
function quoted(text: string): string {
  return `"${escaped(text)}"`;
}

/** Mark for a break of a word without a hyphen: a zero-width space until it is escaped. */
const breakable = '\u200B';

const characters: Readonly<Record<string, string>> = {
  '\\': '\\e',
  '-': '\\-',
  '"': '\\(dq',
  "'": '\\(aq',
  '`': '\\(ga',
  '^': '\\(ha',
  '~': '\\(ti',
  [breakable]: '\\:',
  '…': '\\&...',
  '·': '\\(bu',
  '“': '\\(lq',
  '”': '\\(rq',
  '–': '\\(en',
  '—': '\\(em',
  '×': '\\(mu',
};

/** Text in ASCII: characters of roff by their names, others by their code points. Words longer than a line may be broken at their marks. */
function escaped(text: string): string {
  return text
    .replaceAll(/\S{40,}/g, (word) => word.replaceAll(/[-/,|&=](?=.)/g, `$&${breakable}`))
    .replaceAll(/[\\\-"'`^~]|[^\n\u0020-\u007E]/gu, (character) => {
      const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
      return characters[character] ?? `\\[u${code}]`;
    });
}
