import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { findAttack } from './attack.ts'
import { findRegexes } from './find.ts'

const { regexes, made } = findRegexes(join(import.meta.dirname, '..', '..', 'src'))

/** Expressions that are not linear, and what bounds the length of each text before it is tested. Empty: rather write a linear one. */
const bounded: Record<string, string> = {}

const word = String.raw`(?<![\p{L}\p{N}])(?:needle|need)[\p{L}\p{N}]*`
const login = '[A-Za-z0-9](?:[A-Za-z0-9]|-(?=[A-Za-z0-9])){0,38}'

/** Expressions that are made from text, by file: an example of each, or who writes them and what they are tested on. */
const dynamic: Record<string, [source: string, flags: string][] | string> = {
  'conformance/checks/delivery-requests.ts': [['^7$', '']],
  'conformance/checks/web-flow-tokens.ts': [['<scope>([^<]*)</scope>', '']],
  'conformance/forms.ts': [[String.raw`(?:^|\s)name\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))`, 'i']],
  'conformance/receiver.ts': [[String.raw`^x-\w+-event$`, '']],
  'git/objects.ts': [['^author (.*)$', 'gm']],
  'hosting/search/text-matches.ts': [[word, 'giu']],
  'hosting/search/views/marked.ts': [[`(${word})`, 'giu']],
  'importer/staging/rewrite/path-patterns.ts':
    'the operator who converts a repository; paths of its files, in a process of its own',
  'parts/imports/views/form.ts': [['^vcs_url ', '']],
  'parts/webhooks/views/form.ts': [['^url ', '']],
  'platform/outbound/policy.ts': 'the operator, in a setting; names of hosts, which have at most 253 characters',
  'seed/mismatch.ts': 'schemas of the seed format, which are checked with the others',
  'seed/shape.ts': 'schemas of the seed format, which are checked with the others',
  'testing/server/control-input.ts': 'the author of a test, whose own server runs it',
  'testing/server/request-match.ts': 'the author of a test, whose own server runs it',
  'web/markdown/names.ts': [
    [String.raw`(?<![\p{Script=Latin}])(?<address>https?://[^\s<>"\x60]*[^\s<>"\x60.,:;!?*_~'\)\]])`, 'gu'],
    [
      String.raw`(?<![\p{Nd}/.@\x60\-])@(?<user>${login})(?:/(?<slug>\w(?:\w|-(?=\w)){0,99}))?(?![\p{Nd}@/]|[.\-]+[\p{Nd}])`,
      'gu',
    ],
    [String.raw`(?<![\p{Nd}/.])(?:(?<owner>${login})/(?<repo>[\w.\-]{1,100}))?#(?<number>[1-9]\d{0,9})(?![\p{Nd}])`, 'gu'],
  ],
  'web/multipart.ts': [[String.raw`;\s*name="([^"]*)"`, 'i']],
}

test('every regular expression is linear, or bounded by a length that is tested before', () => {
  const slow = new Map<string, string>()
  const seen = new Set<string>()
  const check = (where: string, source: string, flags: string) => {
    const shown = `/${source}/${flags}`
    if (seen.has(shown)) return
    seen.add(shown)
    const attack = findAttack(source, flags)
    if (attack) slow.set(shown, `${where} ${shown} is slow on ${attack}`)
  }
  for (const { where, source, flags } of regexes) check(where, source, flags)
  for (const [file, samples] of Object.entries(dynamic))
    if (typeof samples !== 'string') for (const [source, flags] of samples) check(file, source, flags)
  assert.ok(seen.size > 500)
  assert.deepEqual(
    [...slow].flatMap(([shown, message]) => (shown in bounded ? [] : [message])),
    [],
  )
  assert.deepEqual(
    Object.keys(bounded).filter((shown) => !slow.has(shown)),
    [],
    'these are linear or gone: remove them from the list',
  )
})

test('expressions that are made from text are listed with an example', () => {
  assert.deepEqual([...new Set(made)].sort(), Object.keys(dynamic).sort())
})

test('slow expressions are found', () => {
  const slow: [string, string][] = [
    [String.raw`^application\/vnd\.(service|github)((?:[.-][\w-]+)*)(?:\+json)?$`, ''],
    [String.raw`([^\0\n]+)\0([^\n]*)\n`, 'g'],
    ['[. ]+$', ''],
    ['^-+|-+$', 'g'],
    [String.raw`\0.*\bside-band-64k\b`, ''],
    ['^(`{3,})suggestion[^\\n`]*\\n([\\s\\S]*?)^\\1`*[ \\t]*$\\n?', 'gm'],
    [String.raw`^([\w@.-]+)[ \t]+([A-Za-z0-9+/]+={0,2})(?:[ \t]+([^\r\n]*))?$`, ''],
    ['<span[^>]*>', 'g'],
    // One match is linear. All of them together are not.
    [String.raw`<[^>]*>|[\s\S]`, 'g'],
    [String.raw`^([a-z_]+):\s*(.*)$`, 'i'],
    ['^(a|a)*$', ''],
    ['(?<=a+)b', ''],
  ]
  assert.deepEqual(
    slow.filter(([source, flags]) => findAttack(source, flags) === undefined),
    [],
  )
})

test('linear expressions are not taken for slow ones', () => {
  const linear: [string, string][] = [
    ['^[0-9a-f]{40}$', 'i'],
    ['[^a-z0-9]+', 'g'],
    ['<span[^<>]*>', 'g'],
    [String.raw`^\s*(\d+)\t(.*?) ?<([^<>]*)>$`, ''],
    ['"((?:[^"]|"")*)"', 'y'],
    [String.raw`^(["'])(.*)\1$`, ''],
  ]
  assert.deepEqual(
    linear.filter(([source, flags]) => findAttack(source, flags) !== undefined),
    [],
  )
})
