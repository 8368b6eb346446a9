// Parses YAML written by people: document by document, up to the first fault.
import type * as library from 'yaml';
import { isNestedTooDeep } from './nesting.ts';
import { findRepeatedKey } from './repeated-keys.ts';

/** A fault of a text, with its place. `line` and `document` begin with 1. */
export class YamlFault extends Error {
  readonly line: number;
  readonly document: number;

  constructor(message: string, line: number, document: number) {
    super(message);
    this.line = line;
    this.document = document;
  }
}

/**
 * Yields the documents of a text; a text without any counts as one empty document. Warnings are faults, and so is a repeated key in a map. Throws
 * YamlFault, and errors for which isNestedTooDeep is true. `yaml` is the library, which callers load when they need it.
 */
export function* parseYaml(yaml: typeof library, text: string, lines: library.LineCounter): Generator<library.Document.Parsed> {
  const faultAt = (offset: number, message: string, document: number): YamlFault =>
    new YamlFault(message, lines.linePos(offset).line, document);
  const composer = new yaml.Composer({ strict: true, uniqueKeys: false, stringKeys: true });
  refuseFirst(composer);
  // The library returns a document when it has read the next one.
  let [begun, ended] = [0, 0];
  const counted = function* (): Generator<library.CST.Token> {
    for (const token of tokensOf(yaml, text, lines)) {
      if (token.type === 'document') begun++;
      yield token;
    }
  };
  try {
    for (const document of composer.compose(counted(), true, text.length)) {
      ended++;
      const repeated = findRepeatedKey(yaml, document);
      if (repeated !== undefined) throw faultAt(repeated.node.range?.[0] ?? 0, `"${repeated.key}" is there twice`, ended);
      yield document;
    }
  } catch (error) {
    if (!(error instanceof yaml.YAMLError) || isNestedTooDeep(error)) throw error;
    // The library would name its option.
    throw faultAt(error.pos[0], error.code === 'NON_STRING_KEY' ? 'a key must be a text' : error.message, Math.max(begun, 1));
  }
}

/** Limit of nesting: far deeper than people write, and far less than overflows the stack. */
const mostNested = 1_000;

/** As Parser.parse of the library, which would keep a token of a kilobyte for each of a hundred thousand brackets. */
function* tokensOf(yaml: typeof library, text: string, lines: library.LineCounter): Generator<library.CST.Token> {
  const parser = new yaml.Parser(lines.addNewLine);
  lines.addNewLine(0);
  for (const lexeme of new yaml.Lexer().lex(text)) {
    yield* parser.next(lexeme);
    if (parser.stack.length > mostNested) throw new RangeError(`more than ${mostNested} levels`);
  }
  yield* parser.end();
}

/**
 * Stops at the first fault. The library would collect every one: a text of 200 KB can have 130,000, which take a second and 200 MB. It
 * catches some that are thrown.
 */
function refuseFirst(composer: library.Composer): void {
  let first: library.YAMLError | undefined;
  const faults: library.YAMLError[] = [];
  faults.push = (fault) => {
    throw (first ??= fault);
  };
  for (const name of ['errors', 'warnings']) Object.defineProperty(composer, name, { get: () => faults, set: () => {} });
}
