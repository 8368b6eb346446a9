// keystorectl and Node.js in one executable file (node --build-sea), for this platform and for others.
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../run.ts';
import type { Bundle } from './bundle.ts';
import type { Platform } from '../node-binary.ts';

/** Relative: the path of the code is among the octets. */
const names = { main: 'keystorectl.js', executable: 'node', output: 'keystorectl' };

/** Without a version, so that a script can download it by name; `--version` says it. */
export function singleFileName(platform: Platform): string {
  return `keystorectl-linux-${platform}`;
}

/**
 * Writes the executable to `target`. The bundle is one module; `node` is the path of a Node.js of the running version, for the
 * platform that is meant. The same input gives the same octets: therefore no compiled code is put in, which differs at each build and
 * would save 10 ms of a start.
 */
export function makeSingleFile({ modules }: Bundle, node: string, target: string): void {
  const work = mkdtempSync(join(tmpdir(), 'keystorectl-'));
  try {
    writeFileSync(join(work, names.main), modules.get(names.main) ?? '');
    writeFileSync(join(work, names.executable), withoutSections(readFileSync(node)), { mode: 0o755 });
    const settings = {
      ...{ ...names, mainFormat: 'module' },
      ...{ useSnapshot: false, useCodeCache: false, disableExperimentalSEAWarning: true },
      // NODE_OPTIONS of the environment is for other programs.
      execArgvExtension: 'none',
    };
    writeFileSync(join(work, 'sea.json'), JSON.stringify(settings));
    run(process.execPath, ['--build-sea', 'sea.json'], { cwd: work });
    // A copy: Node.js writes the whole file at once, whose pages Linux then keeps in pieces of megabytes, all of which count as memory of the
    // process (93 MB resident; of the same file read from the disk, or copied, 64).
    copyFileSync(join(work, names.output), target);
  } finally {
    rmSync(work, { recursive: true });
  }
}

/** Places in an ELF header (gABI, 64 bit). */
const elf = {
  magic: 0x46_4c_45_7f,
  programHeaders: 32,
  sectionHeaders: 40,
  programHeaderSize: 54,
  programHeaderCount: 56,
  sectionSize: 58,
};

/**
 * The loaded part of an ELF file: symbols and debugging data, a fifth of Node.js, are at its end and are found by section headers, which no
 * loader reads. As `strip`, and for every platform. Throws for anything but ELF of 64 bit.
 */
function withoutSections(file: Buffer): Buffer {
  if (file.readUInt32LE(0) !== elf.magic || file[4] !== 2) throw new Error('this Node.js is not an ELF file of 64 bit');
  const start = Number(file.readBigUInt64LE(elf.programHeaders));
  const size = file.readUInt16LE(elf.programHeaderSize);
  const count = file.readUInt16LE(elf.programHeaderCount);
  const ends = Array.from({ length: count }, (_, index) => {
    const header = start + index * size;
    return Number(file.readBigUInt64LE(header + 8) + file.readBigUInt64LE(header + 32));
  });
  const loaded = Buffer.from(file.subarray(0, Math.max(...ends)));
  loaded.writeBigUInt64LE(0n, elf.sectionHeaders);
  // Size and number of the section headers, and which of them has their names.
  loaded.fill(0, elf.sectionSize, elf.sectionSize + 6);
  return loaded;
}
