// Tells whether another machine is connected to a port of this one, according to the kernel (proc_net(5), /proc/self/net/tcp).
import { isIP } from 'node:net';
import { endianness } from 'node:os';
import { parseAddress } from '../../../../core/base/addresses.ts';

const established = '01';

/** `tables`: contents of `tcp` and `tcp6` in /proc/self/net. */
export function isConnected(tables: readonly string[], addresses: readonly string[], ports: readonly number[]): boolean {
  const [from, to] = [new Set(addresses.map(kernelForm)), new Set(ports)];
  return tables
    .flatMap((table) => table.split('\n').slice(1))
    .some((line) => {
      const [, local = '', remote = '', state] = line.trim().split(/\s+/);
      const [address = ''] = remote.split(':');
      return state === established && to.has(Number.parseInt(local.split(':')[1] ?? '', 16)) && from.has(address);
    });
}

/** Words of 32 bits in the order of octets of the machine. */
function kernelForm(address: string): string {
  const value = parseAddress(address)?.value ?? 0n;
  const hex = value.toString(16).padStart(isIP(address) === 6 ? 32 : 8, '0');
  const words = hex.match(/.{8}/g) ?? [];
  const octets = (word: string): string => (endianness() === 'LE' ? (word.match(/../g) ?? []).toReversed().join('') : word);
  return words.map(octets).join('').toUpperCase();
}
