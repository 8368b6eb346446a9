// Updates on media, and what a running machine makes of them.
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { imageCache, runTool } from '../../appliance/packaging/image/tools.ts';
import { makeBundle } from '../../appliance/packaging/os/make-bundle.ts';
import type { Machine } from './machine.ts';

export type Update = {
  /** where medium and bundle are made, as VERSION.medium and VERSION.update */
  readonly directory: string;
  readonly version: string;
  /** of no use without them, but that it is refused */
  readonly parts?: readonly string[];
  /** files of the private keys that sign it */
  readonly keys?: readonly string[];
  /** a command of sed that changes the finished bundle */
  readonly spoil?: string;
};

/** The keys of images that are built without `--keys`. */
export const testSigners = ['update-ec.key', 'update-ml-dsa.key'].map((name) => join(imageCache, 'test-keys', name));

/** Makes a FAT medium with the bundle, and answers the path. */
export async function makeUpdateMedium({ directory, version, parts, keys = testSigners, spoil }: Update): Promise<string> {
  const [some, bundle, medium] = ['part', `${version}.update`, `${version}.medium`].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(some, 'part\n');
  await makeBundle({ version, keys: [...keys], parts: [...(parts ?? [some])], output: bundle });
  if (spoil !== undefined) runTool('sed', ['-i', spoil, bundle]);
  const mebibytes = Math.ceil(statSync(bundle).size / 2 ** 20) + 40;
  const make = 'truncate -s "$3M" "$1"; mkfs.vfat -n KEYSTOR-UPD "$1"; mcopy -i "$1" "$2" ::/';
  runTool('sh', ['-ec', make, 'sh', medium, bundle, String(mebibytes)]);
  return medium;
}

/** Plugs the medium in, and waits until its version is installed beside the one that runs. */
export async function install(machine: Machine, medium: string, version: string): Promise<void> {
  await machine.plugIn(medium);
  await machine.shown(new RegExp(`^\\* Version ${RegExp.escape(version)} is installed beside this one`));
  await machine.unplug();
}

/** Plugs the medium in, and waits until the screen says why it is refused; `reason` is part of a pattern. */
export async function expectRefused(machine: Machine, medium: string, reason: string): Promise<void> {
  await machine.plugIn(medium);
  await machine.shown(new RegExp(`^\\* The update on the medium is refused: ${reason}\\.$`));
  await machine.unplug();
}
