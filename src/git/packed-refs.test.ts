import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { type Bare, openBare } from '#test/bare.ts'
import { git } from './git.ts'
import { noObject } from './objects.ts'
import { moveManyRefs } from './packed-refs.ts'

/** Two commits, and a tag with words of its own, that no ref leads to. */
async function openObjects(bare: Bare) {
  const { work, path } = bare
  const one = await work.commit('One')
  const two = await work.commit('Two')
  await work.git('tag', '-a', 'v1', '-m', 'First', one)
  const tag = await work.git('rev-parse', 'v1')
  await work.git('push', '--quiet', path, 'main:refs/heads/gone', 'v1')
  await git(['-C', path, 'update-ref', '-d', 'refs/heads/gone'])
  await git(['-C', path, 'update-ref', '-d', 'refs/tags/v1'])
  const listed = async () =>
    (await bare.bare('for-each-ref', '--format=%(refname) %(objectname) %(*objectname)')).split('\n').map((line) => line.trim())
  return { path, one, two, tag, listed }
}

test('many refs are written to packed-refs, beside those that were there, and git reads it', async () => {
  await using bare = await openBare()
  const { path, one, two, tag, listed } = await openObjects(bare)
  await git(['-C', path, 'update-ref', 'refs/heads/old', two])
  const made = ['refs/heads/a', 'refs/heads/ä', 'refs/heads/a-b', 'refs/heads/a0', 'refs/heads/b/c', 'refs/tags/v1'].map(
    (ref) => ({
      ref,
      before: noObject,
      after: ref.startsWith('refs/tags') ? tag : one,
    }),
  )
  await moveManyRefs(path, made)
  assert.deepEqual(await listed(), [
    `refs/heads/a ${one}`,
    `refs/heads/a-b ${one}`,
    `refs/heads/a0 ${one}`,
    `refs/heads/b/c ${one}`,
    `refs/heads/old ${two}`,
    `refs/heads/ä ${one}`,
    `refs/tags/v1 ${tag} ${one}`,
  ])
  assert.equal(existsSync(join(path, 'refs/heads/a')), false, 'none has a file of its own')
  const ours = await readFile(join(path, 'packed-refs'), 'utf8')
  await git(['-C', path, 'pack-refs', '--all'])
  assert.equal((await readFile(join(path, 'packed-refs'), 'utf8')).replace(`${two} refs/heads/old\n`, ''), ours)

  // One that has a file of its own moves on too, and one takes the place of another that is in its way.
  await git(['-C', path, 'update-ref', 'refs/heads/a', two])
  await moveManyRefs(path, [
    { ref: 'refs/heads/a', before: two, after: one },
    { ref: 'refs/heads/b/c', before: one, after: noObject },
    { ref: 'refs/heads/b', before: noObject, after: two },
    { ref: 'refs/tags/v1', before: tag, after: noObject },
    { ref: 'refs/tags/v1/deep', before: noObject, after: tag },
  ])
  assert.deepEqual(
    (await listed()).filter((line) => /\/(a|b|c|deep) /.test(line)),
    [`refs/heads/a ${one}`, `refs/heads/b ${two}`, `refs/tags/v1/deep ${tag} ${one}`],
  )
  await bare.bare('fsck', '--strict')
})

test('if one ref has moved, is locked or would point to a missing object, no ref moves', async () => {
  await using bare = await openBare()
  const { path, one, two, tag, listed } = await openObjects(bare)
  await git(['-C', path, 'update-ref', 'refs/heads/there', two])
  await git(['-C', path, 'pack-refs', '--all'])
  const fine = { ref: 'refs/heads/fine', before: noObject, after: one }
  const wrong = [
    { ref: 'refs/heads/there', before: noObject, after: one },
    { ref: 'refs/heads/there', before: one, after: noObject },
    { ref: 'refs/heads/other', before: one, after: two },
    { ref: 'refs/heads/there/below', before: noObject, after: one },
    { ref: 'refs/heads/nothing', before: noObject, after: 'a'.repeat(40) },
    { ref: 'refs/heads/tag', before: noObject, after: tag },
    { ref: 'refs/heads/..', before: noObject, after: one },
  ]
  for (const command of wrong) await assert.rejects(moveManyRefs(path, [fine, command]), JSON.stringify(command))
  const alone = wrong.filter(({ ref }) => !/below|\.\./.test(ref))
  for (const command of alone)
    await assert.rejects(moveManyRefs(path, [fine, command], { exclusive: true }), JSON.stringify(command))
  const lock = join(path, 'refs/heads/fine.lock')
  await mkdir(dirname(lock), { recursive: true })
  await writeFile(lock, '')
  await assert.rejects(moveManyRefs(path, [fine]), /File exists/)
  assert.deepEqual(await listed(), [`refs/heads/there ${two}`])
  assert.equal(existsSync(join(path, 'packed-refs.lock')), false)
  assert.equal(existsSync(join(path, 'packed-refs.new')), false)
})

test('a stale lock of packed-refs is removed', async () => {
  await using bare = await openBare()
  const { path, one, two, listed } = await openObjects(bare)
  await git(['-C', path, 'update-ref', 'refs/heads/old', one])
  for (const name of ['packed-refs.lock', 'packed-refs.new']) await writeFile(join(path, name), 'half')
  await moveManyRefs(path, [{ ref: 'refs/heads/old', before: one, after: two }])
  assert.deepEqual(await listed(), [`refs/heads/old ${two}`])
  await git(['-C', path, 'pack-refs', '--all'])
})
