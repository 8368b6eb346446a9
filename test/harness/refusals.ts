// What a start that ended has said of it.

/** What the supervisor says of a process that ended refers to the lines of that process. */
const referring = /; (?:its message is above|starting it again)$/;

const mostShown = 400;

/** The line that says why a start was refused; undefined when there is none, or something that only a developer can read. */
export function refusalIn(output: string): string | undefined {
  if (/^ +at .*:\d+:\d+\)?$/m.test(output)) return undefined;
  return output
    .split('\n')
    .findLast((line) => /^(?:keystored: |.*ERROR)/.test(line) && !referring.test(line))
    ?.slice(0, mostShown);
}
