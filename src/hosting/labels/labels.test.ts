import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engine, issueEvents, openWithEngine, repo } from '#test/conversations.ts'
import { expect, injecting } from '#test/forge.ts'
import { Octokit } from '#test/octokit.ts'

const inject = injecting(openWithEngine)
const namesOf = (labels: { name: string }[]) => labels.map(({ name }) => name)

test('octokit creates, reads, changes and deletes a label', inject(async ({ web, versioned, ada }) => {
  for (const baseUrl of [`${web}/api/v3`, versioned]) {
    const { issues } = new Octokit({ baseUrl, auth: ada.token })
    const made = await issues.createLabel({ ...repo, name: 'good/first one 💥', color: 'F29513', description: 'Small' })
    const url = `${baseUrl}${engine}/labels/good%2Ffirst%20one%20%F0%9F%92%A5`
    assert.equal(made.headers.location, url)
    assert.partialDeepStrictEqual(made.data, { url, color: 'f29513', description: 'Small', default: false })
    assert.deepEqual((await issues.getLabel({ ...repo, name: 'GOOD/first one 💥' })).data, made.data)
    assert.deepEqual((await issues.listLabelsForRepo(repo)).data, [made.data])
    const changed = await issues.updateLabel({ ...repo, name: made.data.name, new_name: 'Easy', color: '000000' })
    assert.partialDeepStrictEqual(changed.data, { id: made.data.id, name: 'Easy', color: '000000', description: 'Small' })
    assert.equal((await issues.deleteLabel({ ...repo, name: 'easy' })).status, 204)
    await assert.rejects(issues.getLabel({ ...repo, name: 'easy' }), { status: 404 })
  }
}))

test('a label needs a unique name of up to fifty characters and a colour of six digits', inject(async ({ ada, cy, nobody }) => {
  await expect(201, await ada.post(`${engine}/labels`, { name: 'bug' }))
  await expect(201, await ada.post(`${engine}/labels`, { name: '💥'.repeat(50) }))
  await ada.read(`${engine}/labels/${encodeURIComponent('💥'.repeat(50))}`)
  const taken = await expect(422, await ada.post(`${engine}/labels`, { name: 'BUG' }))
  assert.partialDeepStrictEqual(taken.errors, [{ resource: 'Label', code: 'already_exists', field: 'name' }])
  for (const wrong of [
    {},
    { name: '' },
    { name: 7 },
    { name: 'x'.repeat(51) },
    { name: 'x', color: '#000000' },
    { name: 'x', color: 'red' },
    { name: 'x', description: 'x'.repeat(101) },
  ]) {
    assert.equal((await ada.post(`${engine}/labels`, wrong)).status, 422, JSON.stringify(wrong))
  }
  await expect(201, await ada.post(`${engine}/labels`, { name: 'other' }))
  assert.equal((await ada.patch(`${engine}/labels/other`, { new_name: 'Bug' })).status, 422)
  await expect(200, await ada.patch(`${engine}/labels/bug`, { new_name: 'Bug' }))
  for (const who of [nobody, cy]) {
    const status = who === nobody ? 401 : 403
    assert.equal((await who.post(`${engine}/labels`, { name: 'x' })).status, status)
    assert.equal((await who.patch(`${engine}/labels/bug`, { new_name: 'x' })).status, status)
    assert.equal((await who.delete(`${engine}/labels/bug`)).status, status)
  }
  assert.equal((await ada.patch(`${engine}/labels/none`, {})).status, 404)
  assert.equal((await ada.delete(`${engine}/labels/none`)).status, 404)
}))

test('octokit adds and removes labels of an issue, and each change is published once', inject(async (forge) => {
  await forge.open()
  const { issues } = new Octokit({ baseUrl: `${forge.web}/api/v3`, auth: forge.ada.token })
  const one = { ...repo, issue_number: 1 }
  assert.deepEqual(namesOf((await issues.addLabels({ ...one, labels: ['b', 'A', 'a'] })).data), ['A', 'b'])
  assert.deepEqual(namesOf((await issues.addLabels({ ...one, labels: ['B', { name: 'c' }] as string[] })).data), ['A', 'b', 'c'])
  assert.deepEqual(namesOf((await issues.listLabelsOnIssue({ ...one, per_page: 2, page: 2 })).data), ['c'])
  assert.deepEqual(namesOf((await issues.setLabels({ ...one, labels: ['c', 'd'] })).data), ['c', 'd'])
  assert.deepEqual(namesOf((await issues.removeLabel({ ...one, name: 'C' })).data), ['d'])
  await assert.rejects(issues.removeLabel({ ...one, name: 'c' }), { status: 404 })
  assert.equal((await issues.removeAllLabels(one)).status, 204)
  assert.equal((await issues.removeAllLabels(one)).status, 204)
  assert.deepEqual(await issueEvents(forge), [
    'ada opened',
    'ada labeled b',
    'ada labeled A',
    'ada labeled c',
    'ada unlabeled A',
    'ada unlabeled b',
    'ada labeled d',
    'ada unlabeled c',
    'ada unlabeled d',
  ])
  await issues.addLabels({ ...one, labels: ['d'] })
  await issues.updateLabel({ ...repo, name: 'd', new_name: 'D' })
  assert.deepEqual(namesOf((await issues.get(one)).data.labels as { name: string }[]), ['D'])
  await issues.deleteLabel({ ...repo, name: 'd' })
  assert.deepEqual((await issues.get(one)).data.labels, [])
}))

test('an invalid list of labels is refused, and an issue has at most a hundred', inject(async ({ ada, open }) => {
  await open()
  const path = `${engine}/issues/1/labels`
  for (const wrong of [{}, { labels: 'x' }, { labels: [''] }, { labels: [null] }, { labels: [{ id: 1 }] }]) {
    assert.equal((await ada.post(path, wrong)).status, 422, JSON.stringify(wrong))
  }
  const hundred = Array.from({ length: 100 }, (_, n) => `l${n}`)
  assert.equal((await expect(200, await ada.post(path, { labels: hundred }))).length, 100)
  assert.equal((await ada.post(path, { labels: ['one more'] })).status, 422)
  assert.equal((await ada.read(`${engine}/labels?per_page=100&page=2`)).length, 0, 'what was refused made no label')
  assert.equal((await ada.post(`${engine}/issues/2/labels`, { labels: ['x'] })).status, 404)
}))
