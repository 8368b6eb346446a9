#!/usr/bin/env python3
"""Verifies an audit trail as appliance/docs/understand/audit-format.md describes it: a second reading of the format, in another language.

usage: verify-trail.py DIRECTORY KEYS.pem [HEADS.json]     needs python3 and the openssl command
Prints one finding a line; the exit status is 7 when there are any."""
import base64, hashlib, json, os, re, subprocess, sys, tempfile

FILE = re.compile(r'([a-z0-9][a-z0-9-]*)\.([0-9]{12})(?:\.([0-9]+))?\.jsonl')
TIME = re.compile(r'[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z')
ALARMS = {'cut-off', 'added', 'changed', 'set-aside', 'copied', 'unremembered', 'store-behind'}
findings = []


def is_number(value):
    return type(value) is int and 0 <= value < 2**53


def parse(line):
    """A record, or None when the line is none or its own hash does not fit."""
    end = line.rfind(b',"hash":"')
    if end < 0 or line[end:] != b',"hash":"%s"}' % hashlib.sha256(line[:end]).hexdigest().encode():
        return None
    try:
        record = json.loads(line.decode('utf-8', 'replace'))
    except ValueError:
        return None
    return record if is_number(record.get('sequence')) and isinstance(record.get('chain'), str) else None


def is_head(record):
    heads = record.get('heads')
    return (isinstance(heads, list) and isinstance(record.get('signature'), str)
            and TIME.fullmatch(str(record.get('occurred-at'))) is not None
            and all(isinstance(one, dict) and re.fullmatch(r'[a-z0-9][a-z0-9-]*', str(one.get('chain')))
                    and is_number(one.get('sequence')) and re.fullmatch(r'[0-9a-f]{64}', str(one.get('hash'))) for one in heads)
            and len({one['chain'] for one in heads}) == len(heads))


def is_signed(record, pem):
    """ECDSA with SHA-256; the record has r and s one after the other, openssl wants them as a DER sequence."""
    lines = sorted('%s %d %s\n' % (one['chain'], one['sequence'], one['hash']) for one in record['heads'])
    text = 'keystored audit heads 1\n' + record['occurred-at'] + '\n' + ''.join(lines)
    try:
        raw = base64.b64decode(record['signature'])
    except ValueError:
        return False
    halves = [raw[:len(raw) // 2], raw[len(raw) // 2:]]
    numbers = [b'\0' + half.lstrip(b'\0') if half.lstrip(b'\0')[:1] >= b'\x80' else half.lstrip(b'\0') for half in halves]
    body = b''.join(b'\2' + bytes([len(number)]) + number for number in numbers)
    with tempfile.TemporaryDirectory() as place:
        for name, octets in (('key', pem.encode()), ('signature', b'\x30' + bytes([len(body)]) + body)):
            with open(os.path.join(place, name), 'wb') as file:
                file.write(octets)
        command = ['openssl', 'dgst', '-sha256', '-verify', place + '/key', '-signature', place + '/signature']
        return subprocess.run(command, input=text.encode(), capture_output=True).returncode == 0


def main(directory, keys_file, heads_file=None):
    pems = re.findall(r'-----BEGIN PUBLIC KEY-----.+?-----END PUBLIC KEY-----\n?', open(keys_file).read(), re.S)
    keys = {hashlib.sha256(base64.b64decode(''.join(pem.split('\n')[1:-2]))).hexdigest()[:32]: pem for pem in pems}
    promises = {}  # chain to sequence to hash: all that heads ever said
    def promise(where, one):
        if promises.setdefault(one['chain'], {}).setdefault(one['sequence'], one['hash']) != one['hash']:
            findings.append(f"{where}: another record {one['sequence']} of chain {one['chain']} than an earlier head names")
    for one in json.load(open(heads_file))['heads'] if heads_file else []:
        promise(heads_file, one)

    chains = {}  # name to files, in their order
    for name in os.listdir(directory):
        match = FILE.fullmatch(name)
        if match:
            chains.setdefault(match[1], []).append((int(match[2]), int(match[3] or 0), name))
        elif name.endswith('.jsonl'):
            findings.append(f'{name}: not the name of a file of a trail')
    contents = {}  # chain to (place, first sequence that the file's name says, record)
    good_heads = 0
    for chain, files in sorted(chains.items()):
        contents[chain] = []
        for number, _, name in sorted(files):
            *lines, rest = open(os.path.join(directory, name), 'rb').read().split(b'\n')
            if rest and name != max(files)[2]:
                findings.append(f'{name}: the last line is incomplete')
            for index, line in enumerate(lines):
                record = parse(line)
                contents[chain].append((f'{name}:{index + 1}', number if index == 0 else None, record))
                if record and record.get('kind') == 'head':
                    pem = keys.get(record.get('key-id'))
                    if is_head(record) and pem and is_signed(record, pem):
                        good_heads += 1
                        for one in record['heads']:
                            promise(contents[chain][-1][0], one)
                    else:
                        findings.append(f'{name}:{index + 1}: a head without a good signature of a known key')
    if good_heads == 0:
        findings.append('no head with a valid signature')

    for chain, records in contents.items():
        promised = promises.get(chain)
        if promised is None:
            findings.append(f'chain {chain}: no head names it')
        first, last, signed, retired = None, (0, '0' * 64), 0, []
        for where, number, record in records:
            if record is None:
                findings.append(f'{where}: changed')
                continue
            sequence, previous, own = record['sequence'], record.get('previous'), record['hash']
            if number not in (None, sequence) or record['chain'] != chain:
                findings.append(f'{where}: not the file of this record')
            if first is None:
                first = (sequence - 1, previous)
                if sequence == 1 and previous != '0' * 64:
                    findings.append(f'{where}: record 1 follows another')
            elif (sequence, previous) != (last[0] + 1, last[1]):
                findings.append(f'{where}: does not follow the record before it')
            if (promised or {}).get(sequence, own) != own:
                findings.append(f'{where}: not the record that a head names')
            elif sequence in (promised or {}):
                signed = sequence
            if record.get('kind') == 'trail' and record.get('event') in ALARMS:
                findings.append(f"{where}: {record['event']}, found by a start of the appliance")
            if record.get('kind') == 'trail' and record.get('event') == 'retired':
                retired.append((sequence, (record.get('last-sequence'), record.get('last-hash'))))
            last = (sequence, own)
        if first and first[0] > 0 and not any(at <= signed and through == first for at, through in retired):
            findings.append(f'chain {chain}: records 1 to {first[0]} are missing')
    for chain, promised in promises.items():
        at_end = max([record['sequence'] for _, _, record in contents.get(chain, []) if record] or [0])
        if max(promised) > at_end:
            findings.append(f'chain {chain}: records {at_end + 1} to {max(promised)} are missing at its end')
    print('\n'.join(findings) or 'no findings')
    return 7 if findings else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
