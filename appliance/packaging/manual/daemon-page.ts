// The manual page of the daemon, made from the table of its configuration.
import manifest from '../../../package.json' with { type: 'json' };
import { describeConfiguration } from '../../../core/config/config.ts';
import { configurationSections } from '../../configuration.ts';
import { ManualPage, type PageFile } from './roff.ts';

/** keystored(8). `date` is `2026-11-22`. */
export function daemonPage(date: string): PageFile {
  const fields = describeConfiguration(configurationSections);
  const page = new ManualPage({ name: 'keystored', section: 8, source: `keystored ${manifest.version}`, date })
    .name('key-management appliance daemon')
    .section('Synopsis')
    .synopsis('keystored [--config FILE] [options]')
    .section('Description')
    .text(`${manifest.description}.`)
    .text('As a service it is started by systemd with /etc/keystored/keystored.yaml.')
    .section('Options')
    .item('--config FILE', 'The configuration, in YAML.');
  for (const { option, description } of fields) if (option !== undefined) page.item(option, description);
  page.section('Environment');
  for (const { environment, option } of fields) if (environment !== undefined) page.item(environment, `As ${option}.`);
  page.section('Configuration').text('Options win over environment variables, those over the file, that over the defaults.');
  for (const { path, description } of fields) page.item(path, description);
  page.section('Files');
  for (const [file, text] of files) page.item(file, text);
  return page
    .seeAlso([
      ['keystorectl', 1],
      ['systemctl', 1],
    ])
    .file();
}

const files: readonly (readonly [file: string, text: string])[] = [
  ['/etc/keystored/keystored.yaml', 'The configuration of the service.'],
  ['/var/lib/keystored', 'Store, embedded token, audit trail and TLS identity.'],
  ['/usr/share/doc/keystored', 'The documentation.'],
];
