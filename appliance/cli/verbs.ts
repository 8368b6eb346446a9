// The verbs over resources and their meanings: a table apart from their code, which is loaded when one is run.
import type { Command } from '../../core/http/description/command.ts';

/** The verbs over resources, with their texts in the program's help. */
export const verbs: Readonly<Record<Exclude<Command['verb'], 'login' | 'logout'>, string>> = {
  create: 'create an entry: create RESOURCE [PARENTS…] NAME [--field value…]',
  list: 'list entries: list RESOURCE [PARENTS…]',
  show: 'show the state of an entry; with --config only the writable fields',
  merge: 'change some fields: merge RESOURCE NAMES… --field value…',
  replace: 'create or replace a whole entry: replace RESOURCE NAMES… --file FILE',
  delete: 'delete an entry: delete RESOURCE NAMES…',
  do: 'run an action: do RESOURCE [NAMES…] ACTION [VALUES…] [--field value…]',
};
