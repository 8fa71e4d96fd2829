/** A nasty text of about so many characters. */
export interface Shape {
  name: string
  text(size: number): string
}

const repeat = (unit: string, size: number) => unit.repeat(Math.max(1, Math.floor(size / unit.length)))

const repeated = (unit: string, [prefix, suffix] = ['', '']): Shape => ({
  name: `${JSON.stringify(prefix)} + ${JSON.stringify(unit)}… + ${JSON.stringify(suffix)}`,
  text: (size) => `${prefix}${repeat(unit, size - prefix.length - suffix.length)}${suffix}`,
})

/** One character, which a pattern may match in many ways, and then one that it does not match. */
const characters = [
  'a',
  ' ',
  '-',
  '/',
  '.',
  '\n',
  '\t',
  '0',
  '<',
  '[',
  '(',
  '`',
  '*',
  '_',
  '@',
  '#',
  '\\',
  '%',
  '=',
  ',',
  ':',
  '~',
  '"',
  '|',
  '\0',
  'é',
  '👍',
]

/** Separators, and what parsers of our fields look for. */
const units = [
  ...[
    'a ',
    'a,',
    'a.',
    'a-',
    'a/',
    './',
    '../',
    '/.',
    ' \n',
    '\r\n',
    '> ',
    '- ',
    '1. ',
    '%2f',
    '&a=',
    'a=b;',
    ' a:',
    'a;q=0,',
    '"a",',
    '::',
  ],
  ...[
    '@a ',
    '#1 ',
    'a@a.',
    'a/a#',
    'http://a.',
    '[a](',
    '![a][',
    '<a ',
    '<!--',
    '</',
    '&#',
    '**a',
    '~~',
    '| a ',
    '```suggestion\n',
    '```\n',
    '\n- [ ] ',
  ],
  ...[
    'repo:a/a ',
    'label:" ',
    '"a ',
    'NOT ',
    'refs/heads/',
    '.lock/',
    '@{',
    'a..',
    '+00:00',
    'T00:',
    'ssh-rsa ',
    'AAAA',
    '=?',
    '\u0301',
    '\u202e',
  ],
]

/** Texts that begin or end as something that we parse. */
const around: [prefix: string, unit: string, suffix: string][] = [
  ...(['-', 'a', '.a', '.-'] as const).map((unit): [string, string, string] => ['application/vnd.github', unit, '!']),
  ...([' ', 'a ', 'A', '='] as const).map((unit): [string, string, string] => ['ssh-rsa ', unit, ' x!']),
  ['2026-01-01T00:00:00.', '0', 'x'],
  ['a@', 'a.', '!'],
  ['https://', 'a.', ' '],
  ['https://a/', '%', ''],
  ['refs/heads/', 'a/', '.lock'],
  ['', '0123456789abcdef', 'g'],
  ['needle ', 'a', ''],
  ['needle ', 'a ', 'needle'],
  ['```suggestion\n', 'a\n', ''],
  ['bytes=', '0-0,', 'x'],
  ['Basic ', 'Og', ' '],
  ['Bearer ', ' ', '!'],
  ['W/"', 'a', ''],
]

export const shapes: Shape[] = [
  ...characters.flatMap((unit) => [repeated(unit), repeated(unit, ['', '!'])]),
  repeated(' ', ['x', 'x']),
  ...units.map((unit) => repeated(unit)),
  ...around.map(([prefix, unit, suffix]) => repeated(unit, [prefix, suffix])),
]

/** JSON for a field that takes an array or an object, of about so many characters. */
export const structures: Shape[] = [
  ...['0', '""', '"x"', 'null', '{}', '[]', '{"path":"a"}', '{"name":"a"}'].map((item) => ({
    name: `[${item}, …]`,
    text: (size: number) => `[${repeat(`${item},`, size)}${item}]`,
  })),
  { name: '[[[…]]]', text: (size) => `${'['.repeat(size / 2)}${']'.repeat(size / 2)}` },
  { name: '{"a":{"a":…', text: (size) => `${'{"a":'.repeat(size / 6)}0${'}'.repeat(size / 6)}` },
  {
    name: '{"k0":0,…',
    text: (size) => `{${Array.from({ length: Math.ceil(size / 10) }, (_, index) => `"k${index}":0`).join(',')}}`,
  },
]
