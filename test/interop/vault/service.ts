// The program in Go of this folder, and a service with a transit seal that it plays.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { must } from '../../clients/commands.ts';
import { obtainGo, onlyThisGo } from '../../clients/go/toolchain.ts';
import { versions } from '../../clients/versions.ts';
import { endWithTests } from '../../harness/children.ts';

/** Builds the program as the file `program`. */
export async function buildClients(program: string): Promise<void> {
  const go = await obtainGo(versions.go);
  await must(go, ['build', '-mod=readonly', '-o', program, '.'], { cwd: import.meta.dirname, environment: onlyThisGo });
}

export type SealedService = {
  /** `at URL`, `start`, `stop`, `check`, `renew`, `load`, `progress`, `unload`: see seal.go. One at a time. */
  obey(line: string): Promise<string>;
  end(): void;
};

/** Starts it with `VAULT_ADDR`, `VAULT_CACERT`, `VAULT_TOKEN` and `SEAL_KEY` in its environment. */
export function startSealedService(program: string, environment: Readonly<Record<string, string>>): SealedService {
  const child = spawn(program, ['sealed-service'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
    env: { ...process.env, VAULT_MAX_RETRIES: '0', ...environment },
  });
  endWithTests(child);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async obey(line) {
      child.stdin.write(`${line}\n`);
      return String((await lines.next()).value);
    },
    end: () => void child.kill('SIGKILL'),
  };
}
