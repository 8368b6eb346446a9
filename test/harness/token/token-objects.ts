// Lists the objects of a token with pkcs11-tool, independently of the code under test.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { TokenConfig } from '../../../hsm/api.ts';

const run = promisify(execFile);

/** Labels of the private and secret key objects that belong to keys of tenants, `keystored <tenant> <key id> v<version> <purpose>`. */
export async function keyObjectLabels(token: Pick<TokenConfig, 'module' | 'label' | 'environment'>, pin: string): Promise<string[]> {
  const { stdout } = await run(
    'pkcs11-tool',
    ['--module', token.module, '--token-label', token.label ?? '', '--login', '--pin', pin, '--list-objects'],
    { env: { ...process.env, ...token.environment }, maxBuffer: 64 << 20 },
  );
  return Array.from(stdout.matchAll(/label:\s+(keystored \S+ \S+ v\d+ \S+)/g), ([, label]) => label as string);
}

/** Removes a private or secret key object, as an administrator of the HSM can. */
export async function removeKeyObject(
  token: Pick<TokenConfig, 'module' | 'label' | 'environment'>,
  pin: string,
  type: 'privkey' | 'secrkey',
  label: string,
): Promise<void> {
  await run(
    'pkcs11-tool',
    [
      '--module',
      token.module,
      '--token-label',
      token.label ?? '',
      '--login',
      '--pin',
      pin,
      '--delete-object',
      '--type',
      type,
      '--label',
      label,
    ],
    { env: { ...process.env, ...token.environment } },
  );
}

/** A wrapping, binding or transport key in a token. `access`: what pkcs11-tool says of it, as `sensitive`, `never extractable`. */
type OwnObject = { readonly label: string; readonly number: number; readonly access: readonly string[] };

/** The private and secret keys of the appliance itself that every rotation is about. The first that a token makes has no number in its id: 1. */
export async function ownObjects(token: Pick<TokenConfig, 'module' | 'label' | 'environment'>, pin: string): Promise<OwnObject[]> {
  const { stdout } = await run(
    'pkcs11-tool',
    ['--module', token.module, '--token-label', token.label ?? '', '--login', '--pin', pin, '--list-objects'],
    { env: { ...process.env, ...token.environment }, maxBuffer: 64 << 20 },
  );
  const blocks = stdout.split(/^(?=\S)/m);
  return blocks.flatMap((block) => {
    const label = /label:\s+(keystored-(?:wrapping|binding|transport)-key)$/m.exec(block)?.[1];
    if (label === undefined) return [];
    const id = Buffer.from(/ID:\s+([\da-f]+)/.exec(block)?.[1] ?? '', 'hex').toString('latin1');
    const access = (/Access:\s+(.*)$/m.exec(block)?.[1] ?? '').split(', ').map((word) => word.trim());
    return [{ label, number: Number(/^keystored (\d+)/.exec(id)?.[1] ?? 1), access }];
  });
}
