// Severity of a record, as syslog counts (RFC 5424 section 6.2.1), and as CEF and OpenTelemetry do.
import type { JsonObject, JsonValue } from '../../../core/wire/json.ts';

/** RFC 5424 severity, and its counterparts: CEF 0 to 10, OpenTelemetry's SeverityNumber and text. */
export type Severity = { readonly syslog: number; readonly cef: number; readonly otlp: number; readonly text: string };

export const severities = {
  alert: { syslog: 1, cef: 10, otlp: 21, text: 'FATAL' },
  error: { syslog: 3, cef: 8, otlp: 17, text: 'ERROR' },
  warning: { syslog: 4, cef: 5, otlp: 13, text: 'WARN' },
  notice: { syslog: 5, cef: 4, otlp: 10, text: 'INFO2' },
  info: { syslog: 6, cef: 3, otlp: 9, text: 'INFO' },
  debug: { syslog: 7, cef: 0, otlp: 5, text: 'DEBUG' },
} as const satisfies Readonly<Record<string, Severity>>;

/** Events of the trail about itself that are findings: somebody changed it, or the store lost what it has on record. */
const findings: ReadonlySet<unknown> = new Set(['cut-off', 'added', 'changed', 'set-aside', 'copied', 'unremembered', 'store-behind']);

/** Codes of records of the appliance itself: the store was changed past it, or somebody has taken protection away with the PIN. */
const alerting: ReadonlySet<unknown> = new Set(['foreign-writes', 'break-glass', 'break-glass-refused']);

const ofLevel: ReadonlyMap<unknown, Severity> = new Map<unknown, Severity>([
  ['debug', severities.debug],
  ['warn', severities.warning],
  ['error', severities.error],
]);

/** Findings are alerts, requests for approval and decisions about them notices, failures of the appliance errors, and refusals warnings. */
export function severityOfRecord({ kind, event, status, code }: JsonObject): Severity {
  if (kind === 'system' && alerting.has(code)) return severities.alert;
  if (kind === 'trail') return findings.has(event) ? severities.alert : severities.info;
  if (kind === 'approval' && (typeof status !== 'number' || status < 400)) return severities.notice;
  if (typeof status !== 'number' || status < 400) return severities.info;
  return status >= 500 ? severities.error : severities.warning;
}

export function severityOfLog(level: JsonValue | undefined): Severity {
  return ofLevel.get(level) ?? severities.info;
}
