// The bootable image that this machine runs, as far as an unprivileged process sees it: versions, slots, trial, and the result of the last
// update.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defined } from '../../core/base/defined.ts';

export type ImageState = {
  readonly version: string;
  /** by version; a slot that was never written has none */
  readonly slots: readonly { readonly version: string; readonly running: boolean }[];
  /** `none`: it was accepted at an earlier start, or came with the machine */
  readonly trial: 'pending' | 'confirmed' | 'none';
  /** the line of the screen about the last update of this start */
  readonly lastUpdate?: string;
};

/** Set by the boot loader while it counts the starts of a version (systemd-bless-boot.service(8)). */
const countedStart = 'sys/firmware/efi/efivars/LoaderBootCountPath-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f';
/** systemd keeps such a link for each unit that it started. The unit accepts the version that is counted. */
const accepted = 'run/systemd/units/invocation:systemd-bless-boot.service';

/** Undefined for a machine that runs something else than the image. `root`: where its file system begins. */
export function readImage(root = '/'): ImageState | undefined {
  const release = read(join(root, 'usr/lib/os-release'));
  const valueOf = (name: string): string | undefined => new RegExp(`^${name}="?([\\w.+~-]+)"?$`, 'm').exec(release ?? '')?.[1];
  const version = valueOf('IMAGE_VERSION');
  if (valueOf('IMAGE_ID') !== 'keystored' || version === undefined) return undefined;
  const isCounted = existsSync(join(root, countedStart));
  return {
    version,
    slots: slotVersions(root).map((one) => ({ version: one, running: one === version })),
    trial: !isCounted ? 'none' : isLink(join(root, accepted)) ? 'confirmed' : 'pending',
    ...defined({ lastUpdate: read(join(root, 'run/keystored-os/notices/update'))?.trim() }),
  };
}

/** From the labels of the root partitions: a root and its hash tree have the same. */
function slotVersions(root: string): readonly string[] {
  const blocks = join(root, 'sys/class/block');
  const labels = names(blocks).map((name) => /^PARTNAME=keystored_([\w.+~-]+)$/m.exec(read(join(blocks, name, 'uevent')) ?? '')?.[1]);
  return [...new Set(labels.filter((label) => label !== undefined))].toSorted();
}

/** The link leads to an id, not to a file. */
function isLink(path: string): boolean {
  const slash = path.lastIndexOf('/');
  return names(path.slice(0, slash)).includes(path.slice(slash + 1));
}

function names(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
