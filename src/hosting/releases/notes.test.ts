import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engine } from '#test/conversations.ts'
import { checkContracts } from '#test/documented.ts'
import { expect, injecting } from '#test/forge.ts'
import { openWithTopic } from '#test/pulls.ts'

const inject = injecting(openWithTopic)

test('notes of a release list what was merged since the previous one', inject(async ({ ada, ben, dan, forge }) => {
  const page = `${forge.web}/ada/engine`
  const notes = async (body: Record<string, unknown>) => expect(200, await ada.post(`${engine}/releases/generate-notes`, body))
  assert.deepEqual(await notes({ tag_name: 'v1' }), { name: 'v1', body: `**Full Changelog**: ${page}/commits/v1` })
  await expect(201, await ada.post(`${engine}/releases`, { tag_name: 'v1' }))
  const { number } = await expect(201, await ben.post(`${engine}/pulls`, { title: 'Add notes', head: 'topic', base: 'main' }))
  await expect(200, await ada.put(`${engine}/pulls/${number}/merge`, { merge_method: 'squash' }))
  const body = `## What's Changed
* Add notes by @ben in ${page}/pull/${number}

## New Contributors
* @ben made their first contribution in ${page}/pull/${number}

**Full Changelog**: ${page}/compare/v1...v2`
  assert.deepEqual(await notes({ tag_name: 'v2' }), { name: 'v2', body })
  const made = await expect(
    201,
    await ada.post(`${engine}/releases`, { tag_name: 'v2', body: 'Hear:', generate_release_notes: true }),
  )
  assert.deepEqual([made.name, made.body], ['v2', `Hear:\n\n${body}`])
  assert.equal((await notes({ tag_name: 'v3' })).body, `**Full Changelog**: ${page}/compare/v2...v3`)
  assert.equal((await notes({ tag_name: 'v2', previous_tag_name: 'v1' })).body, body)
  for (const wrong of [{ tag_name: 'v4', previous_tag_name: 'gone' }, { tag_name: 'v4', target_commitish: 'gone' }, {}])
    await expect(422, await ada.post(`${engine}/releases/generate-notes`, wrong))
  await expect(403, await dan.post(`${engine}/releases/generate-notes`, { tag_name: 'v4' }))
  await checkContracts(ada, () => [
    ['repos/generate-release-notes', 'post', `${engine}/releases/generate-notes`, { tag_name: 'v5' }],
  ])
}))
