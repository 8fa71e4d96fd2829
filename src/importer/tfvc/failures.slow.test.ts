import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import { type TestContext, test } from 'node:test'
import timers from 'node:timers/promises'
import { ImportFailure } from '#importer/source.ts'
import { openWorkspace, originOf } from '#test/imports/workspace.ts'
import { treeOf } from '#test/tfvc/example-history.ts'
import { openScript } from '#test/tfvc/script.ts'
import { type Asked, complain, type ServerOptions, startTfvcServer } from '#test/tfvc/server.ts'
import { tfvc } from './tfvc.ts'

function shortStory() {
  return openScript()
    .checkIn(`begun ${'and so on '.repeat(20)}`, (desk) => {
      for (let index = 0; index < 230; index++) desk.put(`$/Alpha/f${index}.txt`, `${index % 40}`)
    })
    .checkIn('more', (desk) => desk.put('$/Alpha/f1.txt', 'more').rename('$/Alpha/f2.txt', '$/Alpha/g/f2.txt'))
    .checkIn('last', (desk) => desk.remove('$/Alpha/f3.txt'))
}

/** Converts from a faulty server, and checks that the result is the same as from a correct one. */
async function convertFrom(options: ServerOptions) {
  const script = shortStory()
  await using server = await startTfvcServer(script, options)
  await using workspace = await openWorkspace()
  const origin = originOf(server.url)
  const { commit_count } = await tfvc.convert(origin, workspace)
  assert.equal(commit_count, 3)
  for (const [index, { id }] of script.changesets.entries()) {
    const tree = await workspace.git('ls-tree', '-r', `refs/import/raw~${2 - index}`)
    assert.deepEqual(tree.replaceAll(' blob ', ' ').replaceAll('\t', ' ').split('\n').sort(), treeOf(script, '$/Alpha', id))
  }
  await tfvc.arrange?.(origin, workspace)
  assert.match(
    await workspace.git('log', '--format=%s', '--reverse', 'refs/import/orig/heads/main'),
    /^begun (and so on ){19}and so on/,
  )
  assert.deepEqual((await tfvc.verify(origin, workspace, true)).mismatches, [])
  return { asked: [...server.asked], downloads: server.downloads }
}

test('all pages are read, with each paging scheme', async () => {
  for (const options of [{}, { tokens: true }, { page: 50 }, { tokens: true, page: 30 }]) {
    const { asked } = await convertFrom(options)
    const pages = asked.filter(({ path }) => path.endsWith('/1/changes'))
    assert.ok(pages.length >= 3)
    if (options.tokens) assert.ok(pages.slice(1).every(({ query }) => query.has('continuationToken') || query.has('$skip')))
  }
  // If the server cuts comments, each changeset is requested.
  await convertFrom({
    meddle: ({ query }) => {
      query.delete('maxCommentLength')
      return false
    },
  })
})

test('without MD5, everything is fetched and still compared', async () => {
  const { downloads } = await convertFrom({ hashes: false })
  assert.ok(downloads > 230)
})

/** Ends the waits of the client at once, and moves its clock instead. */
function skipWaits({ mock }: TestContext) {
  const now = performance.now.bind(performance)
  let skipped = 0
  mock.method(performance, 'now', () => now() + skipped)
  mock.method(timers, 'setTimeout', async (milliseconds: number) => {
    skipped += milliseconds
  })
  syncBuiltinESMExports()
  const undo = () => {
    mock.restoreAll()
    syncBuiltinESMExports()
  }
  return { [Symbol.dispose]: undo }
}

test('a Retry-After of a busy server is obeyed', async (t) => {
  using _ = skipWaits(t)
  const times = { busy: [] as number[], down: [] as number[], slow: [] as number[], last: 0 }
  await convertFrom({
    meddle: ({ path, query }, response) => {
      times.last = performance.now()
      if (path.endsWith('/2/changes') && times.busy.push(times.last) <= 2) {
        const words = 'TF400733: The request has been canceled: Request was blocked due to exceeding usage of resource.'
        complain(response, 429, 'RequestBlockedException', words, { 'retry-after': '30.5' })
        return true
      }
      if (query.get('path') === '$/Alpha/f7.txt' && times.down.push(times.last) === 1) {
        const now = Date.UTC(2026, 0, 1)
        const headers = { date: new Date(now).toUTCString(), 'retry-after': new Date(now + 90_000).toUTCString() }
        complain(response, 503, 'Unavailable', 'Down for a moment.', headers)
        return true
      }
      if (path.endsWith('/3/changes') && times.slow.push(times.last)) response.setHeader('retry-after', '120')
      return false
    },
  })
  const [first = 0, second = 0, third = 0] = times.busy
  const [before = 0, after = 0] = times.down
  assert.ok(second - first >= 30_500 && third - second >= 30_500)
  assert.ok(after - before >= 90_000)
  assert.ok(times.last - (times.slow[0] ?? 0) >= 120_000)
})

test('requests are repeated after lost connections', async (t) => {
  using _ = skipWaits(t)
  const broken = new Set<string>()
  const once = (what: string) => !broken.has(what) && broken.add(what)
  await convertFrom({
    meddle: ({ path, query, number }, response) => {
      const file = query.get('path')
      if (number < 2) return Boolean(response.destroy())
      if (path.endsWith('/2/changes') && once('reset')) return Boolean(response.destroy())
      if (path.endsWith('/3/changes') && once('half')) return cut(response, '{"count":1,"value":[{"item"')
      if (file === '$/Alpha/f18.txt' && once('short')) return cut(response, '1')
      if (file === '$/Alpha/f9.txt' && once('wrong')) return Boolean(response.end('x'))
      if (query.get('recursionLevel') === 'Full' && once('list')) return cut(response, '{"count":2,"value":[{"path":"$/Alpha"},{')
      if (path.endsWith('/branches') && once('500')) {
        complain(response, 500, 'Fault', 'TF30063')
        return true
      }
      return false
    },
  })
  assert.deepEqual([...broken].sort(), ['500', 'half', 'list', 'reset', 'short', 'wrong'])
})

function cut(response: ServerResponse, text: string) {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length + 10 }).write(text)
  setTimeout(() => response.destroy(), 20)
  return true
}

test('a server that is gone is reported', async () => {
  await using workspace = await openWorkspace()
  await using server = await startTfvcServer(shortStory(), {
    meddle: (_, response) => {
      complain(response, 404, 'NotFoundException', 'TF200016: The following project does not exist.')
      return true
    },
  })
  await assert.rejects(tfvc.convert(originOf(server.url), workspace), /There is no one project at this address/)
})

test('contents with wrong checksums end the import, and missing ones are counted', async (t) => {
  using _ = skipWaits(t)
  const failing = (meddle: NonNullable<ServerOptions['meddle']>) => convertFrom({ meddle })
  const refused = (words: RegExp) => (error: unknown) => error instanceof ImportFailure && words.test(error.message)
  const replace = (text: string) => (asked: Asked, response: ServerResponse) =>
    asked.query.get('path') === '$/Alpha/f1.txt' && Boolean(response.end(text))
  await assert.rejects(failing(replace('x')), refused(/\$\/Alpha\/f1\.txt in changeset 1 does not match its MD5/))
  await assert.rejects(failing(replace('longer')), refused(/is longer than the server announced/))
  await assert.rejects(failing(replace('')), refused(/has 0 bytes, but the server announced 1/))

  const script = openScript()
    .checkIn('one', (desk) => desk.put('$/Alpha/a', 'a').put('$/Alpha/destroyed', 'x').put('$/Alpha/same', 'x'))
    .checkIn('two', (desk) => desk.put('$/Alpha/b', 'x'))
  await using server = await startTfvcServer(script, {
    meddle: ({ query, path }, response) => {
      if (query.get('path') !== '$/Alpha/destroyed') return false
      complain(response, 404, 'ItemNotFoundException', `TF14008: ${path} was destroyed.`)
      return true
    },
  })
  await using workspace = await openWorkspace()
  const { notes } = await tfvc.convert(originOf(server.url), workspace)
  assert.deepEqual(notes, { 'contents that the source no longer has': 1 })
  assert.equal(await workspace.git('ls-tree', '--name-only', 'refs/import/raw'), 'a\nb\nsame')
})

test('invalid answers are refused', async () => {
  await using workspace = await openWorkspace()
  const list = (value: unknown[]) => JSON.stringify({ count: value.length, value })
  const file = (path: string) => ({ item: { path, size: 1, hashValue: 'DMF1ucDxtqgxw5niaXcmYQ==' }, changeType: 'add' })
  let changes = list([])
  let changesets: string | undefined
  await using server = await startTfvcServer(
    openScript().checkIn('one', (desk) => desk.put('$/Alpha/a', 'a')),
    {
      meddle: ({ path, query }, response) => {
        if (query.has('path')) return Boolean(response.end('a'))
        const said = path.endsWith('/changes') ? changes : /\/changesets$/.test(path) ? changesets : undefined
        if (said === undefined) return false
        return Boolean(response.writeHead(200, { 'content-type': 'application/json' }).end(said))
      },
    },
  )
  const convert = async () => {
    await workspace.git('update-ref', '-d', 'refs/import/raw')
    return tfvc.convert(originOf(server.url), workspace)
  }
  const outside = [
    '$/Alpha/../x',
    '$/Alpha/./x',
    '$/Alpha//x',
    '$/Alpha/x\0y',
    '$/Alpha/a/.GIT/hooks/x',
    '$/Alpha/.git ',
    '$/Alpha/a\u200c/.g\u200cit/x',
  ]
  changes = list([...outside, '$/Alphabet/x', '$/Beta/x', '/etc/passwd', '$/Alpha/"quoted\n\\name"', '$/Alpha/\ud800'].map(file))
  const { notes } = await convert()
  assert.deepEqual(notes, { 'files with names that git refuses': outside.length })
  const names = (await workspace.git('ls-tree', '-r', '-z', '--name-only', 'refs/import/raw')).split('\0')
  assert.deepEqual(names.filter(Boolean), ['"quoted\n\\name"', '\ufffd'])
  await workspace.git('fsck', '--strict')

  for (const said of ['{}', '[]', 'null', '{"value":[3]}', '{"value":[{"item":null}]}', 'x', '{"value":[{"item":{"path":7}']) {
    changes = said
    await assert.rejects(convert, ImportFailure, said)
  }
  changes = list([file('$/Alpha/a')])
  const described = (changesetId: unknown) => ({ changesetId, author: 7, createdDate: 'never', comment: 8 })
  for (const said of [[described(-1)], [described('1')], [described(1e12)], [{}], [described(1), described(1)]]) {
    changesets = list(said)
    await assert.rejects(convert, ImportFailure, changesets)
  }
})
