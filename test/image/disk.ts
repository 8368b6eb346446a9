// The disk of a machine that is switched off, read as a thief reads it who has the key file of its boot partition.
import { spawnSync } from 'node:child_process';
import { createDecipheriv } from 'node:crypto';
import { closeSync, ftruncateSync, mkdirSync, openSync, readFileSync, readSync, rmSync, statSync, writeSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { runTool } from '../../appliance/packaging/image/tools.ts';
import { found, needlesOf } from '../harness/token/canaries.ts';

/** In units of 512 octets. */
type Partition = { readonly name: string; readonly start: number; readonly size: number };

/** The partitions of the disk of the machine in `directory`, in their order. */
export function partitionsOf(directory: string): readonly Partition[] {
  return partitionsIn(rawDisk(directory));
}

/**
 * Decrypts the state of a machine without a TPM into an image of its file system, whose journal it replays as the next start would,
 * and answers the path.
 */
export function openState(directory: string): string {
  const raw = rawDisk(directory);
  const [volume, fileKey, volumeKey, state] = ['var.luks', 'var.key', 'volume.key', 'var.ext4'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
    string,
  ];
  for (const path of [volume, fileKey, volumeKey, state]) rmSync(path, { force: true });
  const { start, size } = partitionsIn(raw).find(({ name }) => name === 'keystored-var') as Partition;
  const place = `driver=raw,offset=${start * 512},size=${size * 512},file.driver=file,file.filename=${raw}`;
  runTool('qemu-img', ['convert', '-O', 'raw', '--image-opts', place, volume]);
  runTool('mcopy', ['-i', `${raw}@@1M`, '::/keystored/var.key', fileKey]);
  const header = JSON.parse(runTool('cryptsetup', ['luksDump', '--dump-json-metadata', volume])) as Header;
  const dump = ['luksDump', '--batch-mode', '--dump-volume-key', '--key-file', fileKey, '--volume-key-file', volumeKey];
  runTool('cryptsetup', [...dump, volume]);
  decrypt(volume, header.segments['0'], readFileSync(volumeKey), state);
  for (const path of [raw, volume]) rmSync(path);
  // Exit code 1: the journal was replayed.
  runTool('sh', ['-c', 'e2fsck -f -y "$1" || test $? = 1', 'sh', state]);
  return state;
}

/** Copies everything below `folder` of the file system image to the new folder `to`, with owners and modes. */
export function extractState(state: string, folder: string, to: string): void {
  mkdirSync(to);
  runTool('debugfs', ['-R', `rdump ${folder} ${to}`, state]);
}

/** What the check of the stopped appliance says of the daemon's data as they are on the disk. */
export function checkState(directory: string): string {
  const data = join(directory, 'data');
  rmSync(data, { recursive: true, force: true });
  extractState(openState(directory), '/lib/keystored', data);
  const program = resolve(import.meta.dirname, '../../appliance/check.ts');
  const { stdout, stderr } = spawnSync(process.execPath, [program, '--data', join(data, 'keystored')], { encoding: 'utf8' });
  return `${stdout}${stderr}`.trim();
}

/** LUKS2, as far as it is needed here. */
type Segment = { readonly encryption: string; readonly offset: string; readonly sector_size: number };
type Header = { readonly segments: { readonly 0: Segment } };

/** XTS by sector; what was never written stays a hole. */
function decrypt(from: string, { encryption, offset, sector_size: sectorBytes }: Segment, key: Buffer, to: string): void {
  if (encryption !== 'aes-xts-plain64') throw new Error(`the state is encrypted with ${encryption}`);
  const [source, target] = [openSync(from, 'r'), openSync(to, 'w')];
  const total = statSync(from).size - Number(offset);
  ftruncateSync(target, total);
  const chunk = Buffer.alloc(1 << 20);
  const zeros = Buffer.alloc(sectorBytes);
  for (let position = 0; position < total; position += chunk.length) {
    const octets = chunk.subarray(0, readSync(source, chunk, 0, Math.min(chunk.length, total - position), Number(offset) + position));
    for (let at = 0; at < octets.length; at += sectorBytes) {
      const sector = octets.subarray(at, at + sectorBytes);
      if (sector.equals(zeros)) continue;
      const tweak = Buffer.alloc(16);
      tweak.writeBigUInt64LE(BigInt((position + at) / 512));
      writeSync(target, createDecipheriv(`aes-${key.length * 4}-xts`, key, tweak).update(sector), 0, sectorBytes, position + at);
    }
  }
  closeSync(source);
  closeSync(target);
}

/** A copy of the disk as it is now; answers its path. */
export function rawDisk(directory: string): string {
  const raw = join(directory, 'disk.raw');
  runTool('qemu-img', ['convert', '-O', 'raw', join(directory, 'disk.qcow2'), raw]);
  return raw;
}

function partitionsIn(raw: string): readonly Partition[] {
  return (JSON.parse(runTool('sfdisk', ['--json', raw])) as { partitiontable: { partitions: Partition[] } }).partitiontable.partitions;
}

/** The secrets that a file contains, in any encoding. */
export function foundIn(file: string, planted: ReadonlyMap<string, string>): string[] {
  const needles = needlesOf(planted);
  return [...new Set([...piecesOf(file)].flatMap(({ octets }) => found(octets, needles)))];
}

/** How often a file contains each of these texts. */
export function occurrences(file: string, texts: readonly string[]): number[] {
  const places = texts.map(() => new Set<number>());
  for (const { octets, position } of piecesOf(file)) {
    for (const [index, text] of texts.entries()) {
      for (let at = octets.indexOf(text); at >= 0; at = octets.indexOf(text, at + 1)) places[index]?.add(position + at);
    }
  }
  return places.map(({ size }) => size);
}

const stepBytes = 16 << 20;

/** A file in pieces that overlap by more than a secret is long; holes are left out. */
function* piecesOf(file: string): Generator<{ readonly octets: Buffer; readonly position: number }> {
  const descriptor = openSync(file, 'r');
  const buffer = Buffer.alloc(stepBytes + 4096);
  const zeros = Buffer.alloc(buffer.length);
  for (let position = 0; position < statSync(file).size; position += stepBytes) {
    const octets = buffer.subarray(0, readSync(descriptor, buffer, 0, buffer.length, position));
    if (!octets.equals(zeros.subarray(0, octets.length))) yield { octets, position };
  }
  closeSync(descriptor);
}
