// cluster: the appliances that share a store, under the names that administrators look for. The operations are those of the API.
import type { ConnectionOptions } from '../connection-options.ts';
import { commandFor } from '../terminal/command-output.ts';
import type { Io } from '../terminal/io.ts';
import { runVerb } from './verbs.ts';

/**
 * `cluster status | init | invite | …`, with the options of `show cluster` and `do cluster init`, `invite`, `join`, `remove-member`,
 * `set-public-url`, …
 */
export async function runCluster(words: readonly string[], before: ConnectionOptions, io: Io): Promise<void> {
  const cluster = commandFor(io, 'keystorectl cluster').description('The appliances that share a store.').enablePositionalOptions();
  const add = (name: string, description: string, run: (rest: readonly string[]) => Promise<void>): void => {
    cluster
      .command(name)
      .description(description)
      .argument('[words...]')
      .helpOption(false)
      .allowUnknownOption()
      .passThroughOptions()
      .action(async (rest: readonly string[]) => run(rest));
  };
  add('status', 'who is in, who runs the background jobs, and how far everyone has followed', (rest) =>
    runVerb('show', ['cluster', ...rest], before, io),
  );
  add('init', 'make this appliance, which stands alone, the first of a cluster', (rest) =>
    runVerb('do', ['cluster', 'init', ...rest], before, io),
  );
  add('invite', 'print an invitation for one more appliance, good for an hour: invite [MEMBER]', (rest) =>
    runVerb('do', ['cluster', 'invite', ...rest], before, io),
  );
  add('invitations', 'the invitations there are, and which appliance has used each', (rest) =>
    runVerb('show', ['invitations', ...rest], before, io),
  );
  add('withdraw', 'end an invitation: withdraw ID', (rest) => runVerb('do', ['cluster', 'withdraw-invitation', ...rest], before, io));
  add('join', 'let this appliance, which is new, join with the invitation in a file: join --in FILE', (rest) =>
    runVerb('do', ['cluster', 'join', ...rest], before, io),
  );
  add('remove', 'remove an appliance that is permanently lost: remove MEMBER [--even-if-alive]', (rest) =>
    runVerb('do', ['cluster', 'remove-member', ...rest], before, io),
  );
  add('set-public-url', 'the one URL that certificates and links of all name: set-public-url URL', (rest) =>
    runVerb('do', ['cluster', 'set-public-url', ...rest], before, io),
  );
  add('clear-public-url', 'certificates and links name the public-url of each configuration again', (rest) =>
    runVerb('do', ['cluster', 'clear-public-url', ...rest], before, io),
  );
  await cluster.parseAsync([...words], { from: 'user' });
}
