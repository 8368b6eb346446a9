// Looks around inside a machine without a TPM, as only its hypervisor can: it adds words to the kernel command line, and then brings a unit along.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Each of them is a shell command; what it prints stands under its name. */
const questions = {
  tcp: 'cat /proc/net/tcp /proc/net/tcp6',
  udp: 'cat /proc/net/udp /proc/net/udp6',
  firewall: 'nft --json list ruleset',
  failed: 'systemctl list-units --failed --plain --no-legend',
  scores: 'systemd-analyze security --no-pager $(cd /usr/lib/systemd/system; ls keystored*.service | sed s/@/@i/)',
  setId: 'find / -xdev -type f -perm /6000',
  writable: 'find / -xdev -perm -2 ! -perm -1000 ! -type l ! -path "/dev/*" ! -path "/proc/*" ! -path "/sys/*"',
  mounts: 'cat /proc/mounts',
  processes: 'for one in /proc/[0-9]*; do tr "\\0" " " <$one/cmdline; echo; done | grep .',
  memory: 'grep Mem /proc/meminfo; systemctl show keystored.service --property=MemoryCurrent,MemoryPeak',
  times: 'systemctl show --property=UserspaceTimestampMonotonic; systemctl show keystored.service --property=ActiveEnterTimestampMonotonic',
  errors: 'journalctl --boot --priority=err --no-pager --quiet',
};

export type Answers = Readonly<Record<keyof typeof questions, string>>;

/** Arguments of QEMU for a machine whose next start answers all questions on its second serial line. */
export function probeArguments(directory: string): string[] {
  const script = Object.entries(questions)
    .map(([name, command]) => `echo "== ${name}"; ${command}; echo`)
    .join('\n');
  const unit = `[Unit]
After=keystored.service
[Service]
Type=oneshot
StandardOutput=file:/dev/ttyS1
StandardError=null
ExecStart=/bin/sh -c 'echo ${Buffer.from(`${script}\necho "== end"\n`).toString('base64')} | base64 -d | sh'
`;
  const credential = `io.systemd.credential.binary:systemd.extra-unit.probe.service=${Buffer.from(unit).toString('base64')}`;
  const words = 'io.systemd.stub.kernel-cmdline-extra=systemd.import_credentials=yes systemd.wants=probe.service';
  return ['-serial', `file:${join(directory, 'probe')}`, ...[words, credential].flatMap((value) => ['-smbios', `type=11,value=${value}`])];
}

/** What was answered, once everything was; undefined before. */
export function probeAnswers(directory: string): Answers | undefined {
  const text = readFileSync(join(directory, 'probe'), 'utf8').replaceAll('\r', '');
  if (!text.includes('== end')) return undefined;
  const parts = text.split(/^== (\w+)$/m).slice(1);
  return Object.fromEntries(Object.keys(questions).map((name) => [name, (parts[parts.indexOf(name) + 1] ?? '').trim()])) as Answers;
}

/** Ports of `tcp` or `udp` that others than the machine itself can reach: where it listens, or has bound and is connected to nobody. */
export function openPorts(table: string): number[] {
  const rows = [...table.matchAll(/^ *\d+: ([0-9A-F]+):([0-9A-F]{4}) [0-9A-F]+:0000 (?:0A|07) /gm)];
  // 127.0.0.0/8, as a little-endian machine prints it.
  const ports = rows.flatMap(([, local = '', port = '']) => (/^[0-9A-F]{6}7F$/.test(local) ? [] : [Number.parseInt(port, 16)]));
  return [...new Set(ports)].toSorted((one, other) => one - other);
}
