import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engine } from '#test/conversations.ts'
import { expect, type Forge } from '#test/forge.ts'
import { openWithPull, pull } from '#test/reviews.ts'
import { checkPayload } from '#test/webhook-schemas.ts'
import { type Heard, heardOf, hookOn } from '#test/webhooks.ts'

const reviews = `${pull}/reviews`

/** The payloads of an act. Each matches the public schemas. */
async function told(forge: Forge, act: () => Promise<unknown>) {
  const news = await heardOf(forge, act)
  for (const { event, payload } of news) checkPayload(event, payload)
  return news
}

/** Sender, event, action and text, a line each. */
const lines = (news: Heard[]) =>
  news.map(({ event, payload: { sender, action, review, comment } }) =>
    [event.replace('pull_request_', ''), action, sender.login, review?.state ?? comment.path, (review ?? comment).body].join(' '),
  )

const at = (line: number, body: string) => ({ path: 'mill.txt', line, side: 'RIGHT', body })

test('a submitted review and its comments are delivered, and so are their edits', async () => {
  await using forge = await openWithPull()
  const { ada, ben, cy, dan } = forge
  await hookOn(ada, 'repos/ada/engine', 'pull_request_review', 'pull_request_review_comment')
  let id = 0
  const pending = await told(forge, async () => {
    id = (await expect(200, await cy.post(reviews, { body: 'So far', comments: [at(2, 'Why?'), at(16, 'And this?')] }))).id
    const [comment] = await cy.read(`${reviews}/${id}/comments`)
    await expect(200, await cy.patch(`${engine}/pulls/comments/${comment.id}`, { body: 'Why so?' }))
    await expect(200, await cy.put(`${reviews}/${id}`, { body: 'So far so good' }))
    await expect(422, await ben.post(reviews, { event: 'APPROVE' }))
    const draft = await expect(200, await ada.post(reviews, { body: 'Never', comments: [at(2, 'Never'), at(3, 'Never')] }))
    const [never] = await ada.read(`${reviews}/${draft.id}/comments`)
    await expect(204, await ada.delete(`${engine}/pulls/comments/${never.id}`))
    await expect(200, await ada.delete(`${reviews}/${draft.id}`))
  })
  assert.deepEqual(pending, [], 'what is not submitted is its author’s alone')

  const submitted = await told(forge, async () => expect(200, await cy.post(`${reviews}/${id}/events`, { event: 'APPROVE' })))
  assert.deepEqual(lines(submitted), [
    'review submitted cy approved So far so good',
    'review_comment created cy mill.txt Why so?',
    'review_comment created cy mill.txt And this?',
  ])
  assert.partialDeepStrictEqual(submitted[0]?.payload, {
    review: { id, html_url: `${forge.web}/ada/engine/pull/1#pullrequestreview-${id}`, commit_id: forge.head },
    pull_request: { number: 1, head: { sha: forge.head } },
  })
  assert.equal(submitted[0]?.payload.pull_request.commits, undefined, 'what it takes git to know is not told here')
  assert.partialDeepStrictEqual(submitted[1]?.payload.comment, { line: 2, side: 'RIGHT', pull_request_review_id: id })

  const changed = await told(forge, async () => {
    await expect(200, await cy.put(`${reviews}/${id}`, { body: 'So good' }))
    await expect(200, await cy.put(`${reviews}/${id}`, { body: 'So good' }))
    await expect(403, await dan.put(`${reviews}/${id}`, { body: 'Mine' }))
    await expect(200, await ben.put(`${reviews}/${id}/dismissals`, { message: 'Much has changed' }))
    await expect(422, await ben.put(`${reviews}/${id}/dismissals`, { message: 'Again' }))
  })
  assert.deepEqual(lines(changed), ['review edited cy approved So good', 'review dismissed ben dismissed So good'])
  assert.deepEqual(changed[0]?.payload.changes, { body: { from: 'So far so good' } })
})

test('a comment by itself is delivered as an empty review and a comment', async () => {
  await using forge = await openWithPull()
  const { ada, ben, dan, head } = forge
  await hookOn(ada, 'repos/ada/engine', '*')
  let id = 0
  const said = await told(forge, async () => {
    id = (await expect(201, await dan.post(`${pull}/comments`, { ...at(2, 'Why?'), commit_id: head }))).id
    await expect(201, await ben.post(`${pull}/comments/${id}/replies`, { body: 'Because' }))
    const whole = { path: 'new.txt', subject_type: 'file', body: 'All of it?', commit_id: head }
    await expect(201, await dan.post(`${pull}/comments`, whole))
    await expect(422, await dan.post(`${pull}/comments`, { ...whole, path: 'nowhere' }))
  })
  assert.deepEqual(lines(said), [
    'review submitted dan commented ',
    'review_comment created dan mill.txt Why?',
    'review submitted ben commented ',
    'review_comment created ben mill.txt Because',
    'review submitted dan commented ',
    'review_comment created dan new.txt All of it?',
  ])
  assert.equal(said[0]?.payload.review.body, null)
  assert.equal(said[3]?.payload.comment.in_reply_to_id, id)
  const one = `${engine}/pulls/comments/${id}`
  const changed = await told(forge, async () => {
    await expect(200, await dan.patch(one, { body: 'Why so?' }))
    await expect(200, await dan.patch(one, { body: 'Why so?' }))
    await expect(403, await dan.delete(`${engine}/pulls/comments/${id + 1}`))
    await expect(204, await ada.delete(one))
  })
  assert.deepEqual(lines(changed), ['review_comment edited dan mill.txt Why so?', 'review_comment deleted ada mill.txt Why so?'])
  assert.deepEqual(changed[0]?.payload.changes, { body: { from: 'Why?' } })
})
