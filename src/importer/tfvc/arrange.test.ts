import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openWorkspace, originOf } from '#test/imports/workspace.ts'
import { openScript, type Script } from '#test/tfvc/script.ts'
import { complain, type ServerOptions, startTfvcServer } from '#test/tfvc/server.ts'
import { tfvc } from './tfvc.ts'

/** Imports the project Alpha of a history. Returns a function that runs git on it. */
async function load(script: Script, options: ServerOptions = {}) {
  const server = await startTfvcServer(script, { form: 'services', ...options })
  const workspace = await openWorkspace()
  const origin = originOf(`${server.url}/Alpha`)
  await tfvc.convert(origin, workspace)
  const arranged = await tfvc.arrange?.(origin, workspace)
  const { mismatches } = await tfvc.verify(origin, workspace, false)
  assert.deepEqual(mismatches, [])
  await workspace.git('fsck', '--strict')
  return {
    arranged,
    workspace,
    origin,
    branches: async () => (await workspace.git('for-each-ref', '--format=%(refname:lstrip=4)', 'refs/import/orig')).split('\n'),
    subjects: async (branch: string, ...options: string[]) =>
      (await workspace.git('log', '--format=%s', '--topo-order', ...options, `refs/import/orig/heads/${branch}`)).split('\n'),
    async [Symbol.asyncDispose]() {
      await workspace[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    },
  }
}

test('a project without branches is one branch', async () => {
  const script = openScript()
    .checkIn('one', (desk) => desk.put('$/Alpha/a.txt', '1').put('$/Beta/b.txt', '1'))
    .checkIn('two', (desk) => desk.put('$/Alpha/a.txt', '2').put('$/Alpha/Main/b.txt', '2'))
    .checkIn('elsewhere', (desk) => desk.put('$/Beta/b.txt', '2'))
  // Some servers say so with 404.
  const meddle: ServerOptions['meddle'] = ({ path }, response) => {
    if (!path.endsWith('/branches')) return false
    complain(response, 404, 'BranchNotFoundException', 'TF203100')
    return true
  }
  await using brought = await load(script, { meddle })
  assert.deepEqual(brought.arranged, { default_branch: 'main', notes: {} })
  assert.deepEqual(await brought.branches(), ['main'])
  assert.deepEqual(await brought.subjects('main'), ['two', 'one'])
})

test('a branch keeps its history when it is renamed, deleted and undeleted', async () => {
  const script = openScript()
    .checkIn('begun', (desk) => desk.put('$/Alpha/Trunk/a.txt', '1').put('$/Alpha/loose.txt', 'not in a branch'))
    .checkIn('branched', (desk) => desk.branch('$/Alpha/Trunk', '$/Alpha/Old Name'))
    .checkIn('before', (desk) => desk.put('$/Alpha/Old Name/b.txt', '1'))
    .checkIn('renamed', (desk) => desk.rename('$/Alpha/Old Name', '$/Alpha/Team/New~Name'))
    .checkIn('after', (desk) => desk.put('$/Alpha/Team/New~Name/b.txt', '2'))
    .checkIn('folder above renamed', (desk) => desk.rename('$/Alpha/Team', '$/Alpha/Teams'))
    .checkIn('trunk renamed to a name that was free', (desk) => desk.rename('$/Alpha/Trunk', '$/Alpha/Old Name'))
    .checkIn('trunk goes on', (desk) => desk.put('$/Alpha/Old Name/a.txt', '2'))
    .checkIn('deleted', (desk) => desk.remove('$/Alpha/Teams/New~Name'))
    .checkIn('undeleted', (desk) => desk.undelete('$/Alpha/Teams/New~Name'))
    .checkIn('last', (desk) => desk.put('$/Alpha/Teams/New~Name/c.txt', '1'))
  // Renaming the parent folder moves the branch.
  for (const branch of script.branches) branch.path = branch.path.replace('/Team/', '/Teams/')
  await using brought = await load(script)
  assert.equal(brought.arranged?.default_branch, 'Old-Name')
  assert.deepEqual(await brought.branches(), ['Old-Name', 'Teams/New-Name'])
  assert.deepEqual(await brought.subjects('Old-Name'), ['trunk goes on', 'begun'])
  assert.deepEqual(await brought.subjects('Teams/New-Name'), ['last', 'after', 'before', 'begun'])
  assert.deepEqual(brought.arranged?.notes['changes outside of branches and tags'], 1)
})

test('a complete merge has a second parent, and a partial one has not', async () => {
  const script = openScript()
    .checkIn('begun', (desk) => desk.put('$/Alpha/Main/a', '1').put('$/Alpha/Main/b', '1').put('$/Alpha/Main/c', '1'))
    .checkIn('branched', (desk) => desk.branch('$/Alpha/Main', '$/Alpha/Dev'))
    .checkIn('a', (desk) => desk.put('$/Alpha/Dev/a', '2'))
    .checkIn('b', (desk) => desk.put('$/Alpha/Dev/b', '2'))
    .checkIn('only a is taken', (desk) => desk.merge('$/Alpha/Dev', '$/Alpha/Main', { only: ['a'] }))
    .checkIn('the rest is taken', (desk) => desk.merge('$/Alpha/Dev', '$/Alpha/Main'))
    .checkIn('c here', (desk) => desk.put('$/Alpha/Main/c', 'main'))
    .checkIn('c there', (desk) => desk.put('$/Alpha/Dev/c', 'dev'))
    .checkIn('mine is kept', (desk) => desk.merge('$/Alpha/Dev', '$/Alpha/Main', { keep: true }))
    .checkIn('more there', (desk) => desk.put('$/Alpha/Dev/d', '1').remove('$/Alpha/Dev/a'))
    .checkIn('up to there', (desk) => desk.merge('$/Alpha/Dev', '$/Alpha/Main', { upto: 10 }))
    .checkIn('more here', (desk) => desk.put('$/Alpha/Main/c', 'main 2'))
    .checkIn('back', (desk) => desk.merge('$/Alpha/Main', '$/Alpha/Dev'))
  await using brought = await load(script)
  assert.deepEqual(await brought.subjects('Main', '--merges'), ['up to there', 'mine is kept', 'the rest is taken'])
  assert.deepEqual(await brought.subjects('Dev', '--merges', '--first-parent'), ['back'])
  assert.equal(brought.arranged?.notes['merges of single changes'], 1)
  const { workspace } = brought
  const parent = await workspace.git('log', '-1', '--format=%s', 'refs/import/orig/heads/Main^^2')
  assert.equal(parent, 'more there')
})

test('differences from the source are found', async () => {
  const script = openScript().checkIn('one', (desk) => desk.put('$/Alpha/a', '1').put('$/Alpha/b', '1').put('$/Alpha/c', '1'))
  await using server = await startTfvcServer(script)
  await using workspace = await openWorkspace()
  const origin = originOf(server.url)
  await tfvc.convert(origin, workspace)
  await tfvc.arrange?.(origin, workspace)
  const tree = script.changesets[0]?.tree
  const change = (name: string, data: string) => {
    const item = tree?.get(`$/ALPHA/${name}`)
    if (item) item.data = Buffer.from(data)
  }
  change('A', '2')
  change('B', 'longer')
  tree?.delete('$/ALPHA/C')
  tree?.set('$/ALPHA/D', { path: '$/Alpha/d', data: Buffer.from('1'), version: 1, symlink: false })
  const { mismatches, ...compared } = await tfvc.verify(origin, workspace, false)
  assert.deepEqual(compared, { branches: 1, tags: 0, revisions: 1, files: 6 })
  assert.deepEqual(
    mismatches.filter(({ where }) => where === 'branch main').map(({ path, what }) => `${path} ${what}`),
    ['a has other contents', 'b has 1 bytes and not 6', 'd is missing', 'c is not in the source'],
  )
  assert.equal(mismatches.filter(({ where }) => where === 'changeset 1').length, 4)
})
