import assert from 'node:assert/strict'
import { parseFeed } from '@rowanmanning/feed-parser'
import { Client, expect, type Forge, type Person } from './forge.ts'

/** Reads and parses a feed, and checks the rules that hold for all of them. */
export async function subscribe(url: string, headers: Record<string, string> = {}) {
  const answer = await fetch(url, { headers })
  const text = await answer.text()
  assert.equal(answer.status, 200, `${url} gave ${answer.status}: ${text}`)
  assert.equal(answer.headers.get('content-type'), 'application/atom+xml; charset=utf-8', url)
  const feed = parseFeed(text).toJSON()
  assert.deepEqual(feed.meta, { type: 'atom', version: '1.0' })
  const { origin, hostname } = new URL(url)
  const ids = [...text.matchAll(/<id>([^<]*)<\/id>/g)].map(([, id = '']) => id)
  assert.equal(new Set(ids).size, feed.items.length + 1, 'ids are unique')
  assert.match(ids[0] ?? '', new RegExp(`^tag:${hostname},2008:/`))
  for (const { id } of feed.items) assert.match(id ?? '', new RegExp(`^tag:${hostname},2008:[A-Z]\\w+Event/\\d+$`))
  const dates = feed.items.map((item) => Date.parse(item.updated ?? ''))
  assert.deepEqual(
    dates,
    dates.toSorted((a, b) => b - a),
    'the newest comes first',
  )
  if (dates.length) assert.equal(Date.parse(feed.updated ?? ''), dates[0])
  for (const { url: link, authors } of feed.items) {
    assert.ok(link?.startsWith(`${origin}/`), link ?? '')
    assert.ok(authors[0]?.name && authors[0].url?.startsWith(`${origin}/`))
  }
  assert.ok(feed.self?.startsWith(`${origin}/`))
  return { answer, text, feed, id: ids[0], titles: feed.items.map(({ title }) => title) }
}

/** The HTML inside the elements of a document; the feed parser returns plain text. */
export function markupIn(text: string, element: 'title' | 'content') {
  const plain: Record<string, string> = { lt: '<', gt: '>', quot: '"', apos: "'", '#13': '\r', amp: '&' }
  return [...text.matchAll(new RegExp(`<${element} type="html">([^<]*)</${element}>`, 'g'))].map(([, inner = '']) =>
    inner.replaceAll(/&([^;]*);/g, (_, name: string) => plain[name] ?? assert.fail(`&${name}; is no entity of XML`)),
  )
}

/** The same user with Basic authentication, by token or password. */
export function byBasic(forge: Forge, person: Person, password = person.token, base = `${forge.web}/api/v3`) {
  return new Client(base, { authorization: `Basic ${btoa(`${person.login}:${password}`)}` })
}

/** The URLs of a user's private feeds. */
export async function privateFeeds(forge: Forge, person: Person) {
  const listed = await expect(200, await byBasic(forge, person).get('/feeds'))
  const { current_user_url, current_user_actor_url, current_user_organization_urls } = listed
  return {
    received: current_user_url as string,
    actor: current_user_actor_url as string,
    organizations: current_user_organization_urls as string[],
    token: new URL(current_user_url).searchParams.get('token') ?? '',
  }
}
