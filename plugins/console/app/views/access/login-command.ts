// The command with which a program logs in as an approle, ready to run.
import { quote } from '../../../../../core/base/texts/quote.ts';
import { caFile } from '../../commands/commands.ts';

/** Commands for a shell that has the CA as a file. The secret-id is typed, so that it is in no history and in no list of processes. */
export function loginCommand(origin: string, roleId: string): string {
  const lines = [
    `printf '{"role-id":"%s","secret-id":"%s"}' ${quote(roleId)} "$SECRET_ID" |`,
    `  curl --cacert ${caFile} -sS --fail-with-body --header 'Content-Type: application/json' --data-binary @- ${quote(`${origin}/v1/approle-login`)}`,
  ];
  return `read -rs SECRET_ID\n${lines.join(' \\\n')}`;
}
