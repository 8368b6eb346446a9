// The raw token: a process that makes bare PKCS#11 calls and says what they cost. No HTTP, no policy, no audit trail, no custody of keys.
import { fork } from 'node:child_process';
import { join } from 'node:path';
import { endWithTests } from '../../harness/children.ts';
import { makeSoftToken } from '../../harness/token/softhsm.ts';
import type { TokenCost, TokenOperation, TokenQuestion } from '../processes/token-calls.ts';
import type { Operation } from './contender.ts';

export type RawToken = {
  readonly measure: (operation: TokenOperation, seconds: number) => Promise<TokenCost>;
  readonly stop: () => void;
};

/** Opens a token of its own below the directory. */
export async function openRawToken(directory: string): Promise<RawToken> {
  const token = await makeSoftToken(directory);
  if (token.label === undefined || !('file' in token.pin)) throw new Error('the token has no label or no file with its PIN');
  const child = fork(join(import.meta.dirname, '../processes/token-calls.ts'), [token.module, token.label, token.pin.file], {
    env: { ...process.env, ...token.environment },
    detached: true,
  });
  endWithTests(child);
  const answer = (): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const ended = (code: number | null): void => reject(new Error(`the process of the raw token ended with ${code}`));
      child.once('exit', ended);
      child.once('message', (message) => {
        child.off('exit', ended);
        resolve(message);
      });
    });
  await answer();
  return {
    async measure(operation, seconds) {
      child.send({ operation, seconds } satisfies TokenQuestion);
      return (await answer()) as TokenCost;
    },
    stop: () => child.disconnect(),
  };
}

/** The operation of the raw token that one item of a request needs. */
export function rawOperationOf(operation: Operation): TokenOperation {
  return operation === 'encrypt x 100' ? 'encrypt' : operation;
}
