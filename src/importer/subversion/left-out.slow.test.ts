import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import type { LeftOut, Origin } from '#importer/source.ts'
import { filesOf, refsOf } from '#test/imports/svn-conversion.ts'
import { type History, makeSvnRepository } from '#test/imports/svn-dump.ts'
import { tellStandard } from '#test/imports/svn-repository.ts'
import { openSvnFolder, startSvnserve } from '#test/imports/svn-servers.ts'
import { openWorkspace, originOf } from '#test/imports/workspace.ts'
import { subversion } from './subversion.ts'

/** Previews and converts a history. The report must repeat the preview, except that it knows about merges. */
async function converted(write: (history: History) => void, more: Partial<Origin> = {}) {
  await using folder = await openSvnFolder()
  await makeSvnRepository(join(folder.path, 'mill'), write)
  await using server = await startSvnserve(folder.path)
  await using workspace = await openWorkspace()
  const origin = { ...originOf(`${server.url}mill`), ...more }
  const preview = await subversion.preview?.(origin, workspace)
  assert.equal(await workspace.git('count-objects'), '0 objects, 0 kilobytes')
  await subversion.convert(origin, workspace)
  const arranged = await subversion.arrange?.(origin, workspace)
  const refs = (await refsOf(workspace)).split('\n').map((line) => line.split(' ')[0] ?? '')
  assert.deepEqual(
    [
      ...(preview?.branches ?? []).map(({ name }) => `heads/${name}`),
      ...(preview?.tags ?? []).map(({ name }) => `tags/${name}`),
    ].toSorted(),
    refs.filter((ref) => ref !== '').toSorted(),
  )
  const { mismatches } = await subversion.verify(origin, workspace, true)
  assert.deepEqual(mismatches, [])
  const files = async (ref: string) => (await filesOf(workspace, `refs/import/orig/${ref}`)).map((line) => line.split(' ')[2])
  const contents = Object.fromEntries(await Promise.all(refs.map(async (ref) => [ref, await files(ref)] as const)))
  const log = (ref: string) => workspace.git('log', '--format=%s', `refs/import/orig/${ref}`)
  const history = contents['heads/unassigned'] && (await log('heads/unassigned'))
  return { before: short(preview?.left_out), after: short(arranged?.left_out), notes: arranged?.notes, contents, history }
}

const short = (left: LeftOut[] = []) =>
  left.map(({ path, revisions: [first, last], count, reason }) => `${path} r${first}-${last} ${count} ${reason}`)

test('every path and revision that no branch or tag will have is named before contents are read', async () => {
  const { before, after, notes, contents } = await converted((history) => {
    const { folder, add, change, remove, copy, commit, head } = history
    tellStandard(history)
    folder('branches/empty')
    commit('r2: an empty folder')
    copy('branches/empty', head(), 'branches/of-empty')
    commit('r3: a copy of it')
    folder('branches/1.0')
    add('branches/1.0/file', 'a plain folder\n')
    commit('r4: a branch without a copy')
    copy('trunk', head(), 'branches/gone')
    change('branches/gone/a.txt', 'changed\n')
    commit('r5: a branch with a change')
    change('branches/gone/a.txt', 'again\n')
    commit('r6: another change')
    remove('branches/gone')
    commit('r7: deleted')
    copy('trunk', head(), 'branches/twice')
    change('branches/twice/a.txt', 'first\n')
    commit('r8: a branch')
    remove('branches/twice')
    copy('trunk', head(), 'branches/twice')
    commit('r9: dropped and added again')
    add('branches/note.txt', 'beside the branches\n')
    add('readme.txt', 'beside the trunk\n')
    commit('r10: outside')
    remove('branches/note.txt')
    remove('readme.txt')
    commit('r11: gone again')
    folder('trunk/.git')
    add('trunk/.git/config', 'x\n')
    commit('r12: a name')
    copy('trunk', head(), 'branches/unchanged')
    commit('r13: nothing is lost with this one')
    remove('branches/unchanged')
    commit('r14: deleted')
  })
  assert.deepEqual(before, [
    'branches/empty r2-2 0 empty',
    'branches/of-empty r3-3 0 empty',
    'branches/gone r5-6 3 deleted',
    'branches/twice r8-8 2 replaced',
    'branches/note.txt r10-11 2 outside of branches and tags',
    'readme.txt r10-11 2 outside of branches and tags',
    'trunk/.git/config r12-12 1 a name that git refuses',
  ])
  assert.deepEqual(after, before)
  assert.equal(notes?.['deleted branches and tags'], 2)
  assert.deepEqual(contents, { 'heads/1.0': ['file'], 'heads/main': ['a.txt'], 'heads/twice': ['a.txt'] })
})

test('files outside of branches and tags become a branch if they still exist', async () => {
  const { before, after, contents, history } = await converted((history) => {
    const { folder, add, change, remove, copy, commit, head } = history
    tellStandard(history)
    add('readme.txt', 'one\n')
    folder('docs')
    add('docs/a.txt', 'a\n')
    commit('Outside')
    change('trunk/a.txt', 'b\n')
    commit('Inside')
    copy('trunk', head(), 'branches/x')
    change('readme.txt', 'two\n')
    commit('Both')
    remove('docs')
    commit('Less')
    folder('branches/empty')
    commit('Nothing')
    copy('branches/x', head(), 'branches/unassigned')
    commit('A branch of the same name')
  })
  assert.deepEqual(before, ['branches/empty r6-6 0 empty'])
  assert.deepEqual(after, before)
  assert.deepEqual(Object.keys(contents), ['heads/main', 'heads/unassigned', 'heads/unassigned-2', 'heads/x'])
  assert.deepEqual(contents['heads/unassigned-2'], ['readme.txt'])
  assert.equal(history, 'Inside\nBegin')
})

test('a folder that was changed after the trunk was copied from it is not lost', async () => {
  const write = (alive: boolean) => (history: History) => {
    const { folder, add, change, remove, copy, commit, head } = history
    folder('first')
    add('first/a.txt', 'a\n')
    commit('Begin')
    for (const path of ['branches', 'tags']) folder(path)
    copy('first', head(), 'trunk')
    commit('The trunk')
    change('first/a.txt', 'b\n')
    commit('Later')
    if (!alive) {
      remove('first')
      commit('Gone')
    }
  }
  const kept = await converted(write(true))
  assert.deepEqual([kept.before, kept.after], [[], []])
  assert.deepEqual(kept.contents['heads/unassigned'], ['first/a.txt'])
  assert.equal(kept.history, 'Later\nBegin')
  const lost = await converted(write(false))
  assert.deepEqual(lost.before, ['first r3-3 1 changed after it was copied'])
  assert.deepEqual(Object.keys(lost.contents), ['heads/main'])
})

test('deleted branches and tags are kept on request, and merges keep the commits of a branch', async () => {
  const write = (history: History) => {
    const { change, describe, remove, copy, commit, head } = history
    tellStandard(history)
    copy('trunk', head(), 'branches/work')
    change('branches/work/a.txt', 'b\n')
    commit('Work')
    change('trunk/a.txt', 'b\n')
    describe('trunk', 'dir', { 'svn:mergeinfo': '/branches/work:2' })
    commit('Merge')
    remove('branches/work')
    commit('Clean up')
    copy('trunk', head(), 'tags/v1')
    change('tags/v1/a.txt', 'c\n')
    commit('A tag')
    copy('trunk', head(), 'tags/v1', { replace: true })
    commit('A tag moved')
  }
  const plain = await converted(write)
  assert.deepEqual([plain.before, plain.after], [['tags/v1 r5-5 2 replaced'], ['tags/v1 r5-5 2 replaced']])
  const kept = await converted(write, { keep_deleted: true })
  assert.deepEqual([kept.before, kept.after, kept.notes], [[], [], {}])
  assert.deepEqual(Object.keys(kept.contents), ['heads/main', 'tags/deleted/v1@5', 'tags/deleted/work@3', 'tags/v1'])
})

test('a layout can be chosen, with patterns', async () => {
  const write = (history: History) => {
    const { folder, add, change, copy, commit, head } = history
    for (const path of ['main', 'main/src', 'users', 'users/ann', 'users/bob', 'old', 'rel']) folder(path)
    add('main/src/a.txt', 'a\n')
    commit('Begin')
    for (const path of ['users/ann/one', 'users/ann/two', 'users/bob/one', 'rel/v1', 'rel/notes', 'old/b1'])
      copy('main/src', head(), path)
    commit('Copies')
    change('users/bob/one/a.txt', 'b\n')
    commit('Work')
    copy('users', head(), 'more')
    commit('A folder of branches')
  }
  const layout = { trunk: 'main/src', branches: ['users/*/*', 'more/*/*', '/old/'], tags: ['rel/v*'] }
  const { before, contents } = await converted(write, { layout })
  assert.deepEqual(before, [])
  assert.deepEqual(contents, {
    'heads/main': ['a.txt'],
    'heads/ann/one': ['a.txt'],
    'heads/ann/two': ['a.txt'],
    'heads/bob/one': ['a.txt'],
    'heads/ann/one-2': ['a.txt'],
    'heads/ann/two-2': ['a.txt'],
    'heads/bob/one-2': ['a.txt'],
    'heads/b1': ['a.txt'],
    'heads/unassigned': ['rel/notes/a.txt'],
    'tags/v1': ['a.txt'],
  })
})

test('several projects can be converted into one repository, with the rest', async () => {
  const write = ({ folder, add, copy, commit, head }: History) => {
    for (const name of ['one', 'two']) {
      for (const path of [name, `${name}/trunk`, `${name}/branches`]) folder(path)
      add(`${name}/trunk/${name}.txt`, `${name}\n`)
    }
    add('readme.txt', 'about both\n')
    commit('Begin')
    for (const name of ['one', 'two']) copy(`${name}/trunk`, head(), `${name}/branches/x`)
    commit('Branches')
  }
  const layout = { trunk: 'one/trunk', branches: ['*/trunk', '*/branches/*'], tags: ['*/tags/*'] }
  const { before, contents } = await converted(write, { layout })
  assert.deepEqual(before, [])
  assert.deepEqual(contents, {
    'heads/main': ['one.txt'],
    'heads/one/branches/x': ['one.txt'],
    'heads/two': ['two.txt'],
    'heads/two-2/branches/x': ['two.txt'],
    'heads/unassigned': ['readme.txt'],
  })
})
