// The command with which a program logs in as an approle, ready to run.
import { quote } from '../../../../../core/base/texts/quote.ts';

/** Returns the command. It reads the secret from SECRET_ID, so that it is in no history and in no list of processes. */
export function loginCommand(origin: string, roleId: string): string {
  return [
    `printf '{"role-id":"%s","secret-id":"%s"}' ${quote(roleId)} "$SECRET_ID" |`,
    `  curl -sS --fail-with-body --header 'Content-Type: application/json' --data-binary @- ${quote(`${origin}/v1/approle-login`)}`,
  ].join(' \\\n');
}
