// custodians: the PIN among several people. make, join and end run on the machine of the appliance; give sends a share to sealed appliances.
import { Option } from 'commander';
import { Secret } from '../../../core/base/secret.ts';
import { parseShare } from '../../custodians/share.ts';
import { Client, Refused } from '../client.ts';
import { connectionOptions, type ConnectionOptions } from '../connection-options.ts';
import { resolveConnection } from '../connection.ts';
import { commandFor } from '../terminal/command-output.ts';
import { CommandFailed, usageError } from '../terminal/failure.ts';
import { writeAll } from '../terminal/files.ts';
import { readText, type Io } from '../terminal/io.ts';
import type { Ending, Joining, Making } from './on-machine.ts';

/** `custodians make | join | give | end`. */
export async function runCustodians(words: readonly string[], before: ConnectionOptions, io: Io): Promise<void> {
  const custodians = commandFor(io, 'keystorectl custodians').description('The PIN of the token among several people.');
  const add = (name: string, description: string, options: readonly Option[]) => {
    const command = custodians.command(name).description(description).exitOverride();
    for (const option of options) command.addOption(option);
    return command;
  };
  add('make', 'give each custodian a share of a new PIN, of which any M unseal the appliance', [
    ...placeOptions(),
    new Option('--shares <N>', 'number of custodians, 2 to 16').makeOptionMandatory(),
    new Option('--needed <M>', 'number of shares that unseal, 2 to N').makeOptionMandatory(),
    new Option('--recipient <RECIPIENT...>', 'of each custodian: age1…, or a file with an OpenPGP certificate'),
    new Option('--out <DIR>', 'where the encrypted shares are written'),
    new Option('--paper', 'in place of these: show each custodian the share on this terminal, one after another, to be written down'),
  ]).action(async (options: Making) => (await import('./on-machine.ts')).makeShares(options, io));
  add('join', 'have the shares of another appliance of the cluster unseal this one, too', [
    ...placeOptions(),
    new Option('--ceremony <FILE>', 'a copy of custodians.json of the other one').makeOptionMandatory(),
  ]).action(async (options: Joining) => (await import('./on-machine.ts')).joinShares(options, io));
  add('give', 'send a share to a sealed appliance', [
    ...connectionOptions(),
    new Option('--in <FILE>', 'the decrypted share, - for standard input').default('-'),
    new Option('--all-members', 'to every address of --url'),
  ]).action((options: ConnectionOptions & { in: string; allMembers?: true }) => give({ ...before, ...options }, io));
  add('end', 'set a PIN that a person knows, and end the custody', [
    ...placeOptions(),
    new Option('--new-pin-file <FILE>', 'file with the new PIN').makeOptionMandatory(),
  ]).action(async (options: Ending) => (await import('./on-machine.ts')).endShares(options, io));
  await custodians.parseAsync([...words], { from: 'user' });
}

function placeOptions(): readonly Option[] {
  return [
    new Option('--config <FILE>', 'the configuration of the appliance on this machine'),
    new Option('--data-dir <DIR>', 'its data directory, where the configuration does not say it'),
    new Option('--share <FILE...>', 'present shares, each with the six words of this act in the line below'),
    new Option('--pin-file <FILE>', 'the present PIN, where a person has it: before the first ceremony, or after a cut in it'),
  ];
}

/** To each address by itself: sealed appliances pass nothing on. */
async function give({ in: file, allMembers, ...options }: ConnectionOptions & { in: string; allMembers?: true }, io: Io): Promise<void> {
  const [text = ''] = (await readText(file, io)).split('\n');
  if (parseShare(new Secret(text)) === undefined)
    throw usageError('this is not the text of a share, or it has a typing error: nothing was sent');
  const connection = await resolveConnection(options, io);
  const addresses = connection.url.split(',');
  let failed: CommandFailed | undefined;
  for (const url of allMembers === true ? addresses : addresses.slice(0, 1)) {
    const client = new Client({ ...connection, url });
    try {
      const said = (await client.json({ method: 'POST', path: '/v1/state/keystore/system/unseal', body: { share: text } })) as {
        have: number;
        needed: number;
      };
      await writeAll(io, `${url}: ${said.have} of ${said.needed} shares${said.have >= said.needed ? ': unsealed' : ''}\n`);
    } catch (error) {
      if (!(error instanceof CommandFailed)) throw error;
      if (error instanceof Refused && error.code === 'not-sealed') await writeAll(io, `${url}: is not sealed\n`);
      else
        failed = new CommandFailed(
          error.exitCode,
          [...(failed === undefined ? [] : [failed.message]), `${url}: ${error.message}`].join('\n'),
        );
    } finally {
      client.close();
    }
  }
  if (failed !== undefined) throw failed;
}
