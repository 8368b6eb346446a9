// Commands of commander with our streams, our format of errors, and a help that fits the terminal.
import { Command, Help, type HelpConfiguration, type OutputConfiguration } from 'commander';
import type { Io } from './io.ts';

/** A command that throws instead of ending the process. */
export function commandFor(io: Io, name = 'keystorectl'): Command {
  return new Command(name).exitOverride().configureOutput(outputOf(io)).configureHelp(narrowHelp);
}

/** Columns of help where the terminal does not say how many it has: of a pipe. */
const usualColumns = 80;
/** Terms that are longer have a line of their own: one of them must not indent all others. */
const longestTerm = 30;

function outputOf({ stdout, stderr }: Io): OutputConfiguration {
  return {
    writeOut: (text) => stdout.write(text),
    writeErr: (text) => stderr.write(text),
    outputError: (text, write) => write(text.replace(/^error: /, 'keystorectl: ')),
    getOutHelpWidth: () => stdout.columns ?? usualColumns,
    getErrHelpWidth: () => stderr.columns ?? usualColumns,
    getOutHasColors: () => false,
    getErrHasColors: () => false,
  };
}

const plainHelp = Object.assign(new Help(), { minWidthToWrap: 1 });

const narrowHelp: HelpConfiguration = {
  minWidthToWrap: 1,
  padWidth: (command, helper) => Math.min(longestTerm, plainHelp.padWidth(command, helper)),
  styleUsage(usage) {
    return indented(usage, 'Usage: '.length, this.helpWidth ?? usualColumns);
  },
  formatItem(term, termWidth, description) {
    const indent = termWidth + 4;
    const text = indented(description, indent, this.helpWidth ?? usualColumns);
    if (description === '') return `  ${term}`;
    return term.length > termWidth ? `  ${term}\n${' '.repeat(indent)}${text}` : `  ${term.padEnd(termWidth)}  ${text}`;
  },
};

/** The text in lines that fit behind an indentation; the first line has it already. */
function indented(text: string, indent: number, columns: number): string {
  return wrapped(text, columns - indent).replaceAll('\n', `\n${' '.repeat(indent)}`);
}

/** A text behind the help, in lines that fit. */
export function helpEnd(text: string, { stdout }: Io): string {
  return wrapped(text, stdout.columns ?? usualColumns);
}

/** The text in lines of so many columns; lines that are indented are kept as they are, and words are not cut. */
function wrapped(text: string, columns: number): string {
  return text
    .split('\n')
    .map((line) => (line.startsWith(' ') ? line : plainHelp.boxWrap(line, Math.max(20, columns))))
    .join('\n');
}
