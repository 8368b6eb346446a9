// Finds the texts of the console in its sources: what JSX shows, and literals that read like words.
import { parseAst } from 'rolldown/parseAst';

/** One text in a source: its words with `{0}`, `{1}` for the parts that are inserted, and its place. */
export type Text = {
  readonly words: string;
  readonly start: number;
  readonly end: number;
  /** syntax of its place, in which other words are written as well */
  readonly form: 'children' | 'attribute' | 'template' | 'literal';
  /** places of the parts that `{0}`, `{1}` stand for */
  readonly inserted: readonly Span[];
};

export type Span = { readonly start: number; readonly end: number };

type Node = Span & { readonly type: string } & Readonly<Record<string, unknown>>;

/** `shown`: every word is for people; `read`: only what reads like words; `code`: nothing itself, but what is below it. */
type Place = 'shown' | 'read' | 'code';

/** Attributes whose texts are for people. Others of elements are code; those of components are read like any literal. */
const shownAttributes = /^(?:title|label|aria-label|aria-description|alt|placeholder|what|summary|does|unit)$/;
const codeAttributes =
  /^(?:class|look|id|for|href|src|type|role|name|key|is|tone|d|path|viewBox|autocomplete|autocapitalize|operation|method|data-.*|aria-(?!label$|description$).*)$/;
const shownProperties = /^(?:title|label|head|hint)$/;

/** Texts of a module, from the first to the last; those inside of another one come after it. */
export function textsOf(code: string, lang: 'ts' | 'tsx'): readonly Text[] {
  const found: Text[] = [];
  visit(parseAst(code, { lang }) as unknown as Node, 'read', found);
  return found;
}

function visit(node: Node, place: Place, found: Text[]): void {
  const enter = visitors[node.type];
  if (enter !== undefined) enter(node, place, found);
  else if (!node.type.startsWith('TS') || node.type === 'TSAsExpression' || node.type === 'TSSatisfiesExpression')
    visitBelow(node, passes.has(node.type) ? place : 'read', found);
}

/** Expressions whose value is that of a part of them. */
const passes = new Set([
  'ConditionalExpression',
  'LogicalExpression',
  'TSAsExpression',
  'TSSatisfiesExpression',
  'ParenthesizedExpression',
  'ArrayExpression',
  'ObjectExpression',
  'ArrowFunctionExpression',
]);

function visitBelow(node: Node, place: Place, found: Text[]): void {
  for (const [name, value] of Object.entries(node)) {
    // A decision is not shown.
    const isDecision = name === 'test' || (name === 'left' && node['operator'] === '&&');
    for (const one of Array.isArray(value) ? (value as unknown[]) : [value])
      if (isNode(one)) visit(one, isDecision ? 'read' : place, found);
  }
}

type Visitor = (node: Node, place: Place, found: Text[]) => void;

const nothing: Visitor = () => undefined;

const visitors: Readonly<Record<string, Visitor>> = {
  ImportDeclaration: nothing,
  ImportExpression: nothing,
  ExportAllDeclaration: nothing,
  Literal: (node, place, found) => {
    const { value } = node;
    if (typeof value !== 'string' || !isText(value, place)) return;
    found.push({ words: value, start: node.start, end: node.end, form: 'literal', inserted: [] });
  },
  TemplateLiteral: (node, place, found) => {
    const inserted = node['expressions'] as readonly Node[];
    const words = (node['quasis'] as readonly Node[])
      .map((one, index) => `${(one['value'] as { readonly cooked: string }).cooked}${index < inserted.length ? `{${index}}` : ''}`)
      .join('');
    const isShown = isText(words, place);
    if (isShown) found.push({ words, start: node.start, end: node.end, form: 'template', inserted });
    for (const one of inserted) visit(one, isShown ? 'shown' : place, found);
  },
  TaggedTemplateExpression: (node, _, found) => visitBelow(node['quasi'] as Node, 'code', found),
  Property: (node, place, found) => {
    const key = node['key'] as Node;
    if (node['computed'] === true) visit(key, 'code', found);
    const name = String(key['name']);
    visit(node['value'] as Node, shownProperties.test(name) ? 'shown' : place, found);
  },
  VariableDeclarator: (node, _, found) => {
    const init = node['init'];
    const { name } = node['id'] as { readonly name?: string };
    if (isNode(init)) visit(init, name === 'words' ? 'shown' : 'read', found);
  },
  CallExpression: (node, _, found) => {
    const { name } = node['callee'] as { readonly name?: string };
    visitBelow(node, name === 'said' ? 'shown' : 'read', found);
  },
  SwitchCase: (node, _, found) => {
    for (const one of node['consequent'] as readonly Node[]) visit(one, 'read', found);
  },
  MemberExpression: (node, _, found) => {
    visit(node['object'] as Node, 'read', found);
    if (node['computed'] === true) visit(node['property'] as Node, 'code', found);
  },
  JSXAttribute: (node, _, found) => {
    const { name } = node['name'] as { readonly name: string };
    const { value } = node;
    if (!isNode(value)) return;
    const place = shownAttributes.test(name) ? 'shown' : codeAttributes.test(name) ? 'code' : 'read';
    if (value.type !== 'Literal') visit(value, place, found);
    else if (isText(value['value'] as string, place))
      found.push({ words: value['value'] as string, start: value.start, end: value.end, form: 'attribute', inserted: [] });
  },
  JSXExpressionContainer: (node, place, found) => visitBelow(node, place, found),
  JSXElement: (node, _, found) => {
    const element = node['openingElement'] as Node;
    visitBelow(element, 'read', found);
    if (!/^(?:code|pre|kbd)$/.test(String((element['name'] as Node)['name']))) visitChildren(node['children'] as readonly Node[], found);
  },
  JSXFragment: (node, _, found) => visitChildren(node['children'] as readonly Node[], found),
};

/** Texts and expressions beside each other are one text: another language has them in another order. */
function visitChildren(children: readonly Node[], found: Text[]): void {
  let words = '';
  const inserted: Node[] = [];
  let [start, end] = [Number.POSITIVE_INFINITY, 0];
  for (const child of children) {
    const text = child.type === 'JSXText' ? shownText(child['value'] as string) : spaceIn(child);
    if (text === undefined) words += `{${inserted.push(child) - 1}}`;
    else words += text;
    if (text === '') continue;
    start = Math.min(start, child.start);
    end = child.end;
  }
  if (/\p{L}/u.test(words.replaceAll(/\{\d+\}/g, ''))) found.push({ words, start, end, form: 'children', inserted });
  for (const child of children) visit(child, 'shown', found);
}

/** `{' '}` */
function spaceIn(child: Node): string | undefined {
  const expression = child['expression'] as Node | undefined;
  const value = child.type === 'JSXExpressionContainer' && expression?.type === 'Literal' ? expression['value'] : undefined;
  return typeof value === 'string' && value.trim() === '' ? value : undefined;
}

/** A text over several lines as JSX shows it: entities are read already. */
function shownText(text: string): string {
  const lines = text.split(/\r?\n/);
  return lines
    .map((line, index) => {
      const begun = index === 0 ? line : line.trimStart();
      return index === lines.length - 1 ? begun : begun.trimEnd();
    })
    .filter((line) => line !== '')
    .join(' ');
}

function isText(value: string, place: Place): boolean {
  const words = value.replaceAll(/\{\d+\}/g, '');
  if (place === 'code' || !/\p{L}{2}|^\p{Lu}$/u.test(words)) return false;
  // A sentence, or a word that begins as one. Addresses, media types and names of headers are not texts.
  return place === 'shown' || /^\p{Lu}[\p{Ll}-]+$/u.test(words) || /\p{L}[,:;]? | \(?\p{L}{2}/u.test(words);
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as { readonly type?: unknown }).type === 'string';
}
