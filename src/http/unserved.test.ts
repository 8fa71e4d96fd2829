import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import type { InjectOptions } from 'fastify'
import { apiGroups, openApp } from '#app.ts'
import { expect, openForge } from '#test/forge.ts'
import { type Document, operationsOf } from '#test/openapi.ts'
import { selfHosted, versioned } from '#variants.ts'

const message = (method: string) =>
  `Not Found: Belfry does not serve ${method} at this address. The API reference lists all operations.`

/** Documented paths that routes of another shape serve. */
const otherForms = [
  [/^\/user\/\{account_id\}/, '/users/{username}'],
  [/^\/teams\/\{team_id\}/, '/orgs/{org}/teams/{team_slug}'],
  [/\{base\}\.\.\.\{head\}$/, '{basehead}'],
] as const

const shapeOf = (path: string) => path.replaceAll(/\{[^}]*\}/g, '{}')
const formOf = (path: string) => otherForms.reduce((form, [pattern, other]) => form.replace(pattern, other), path)

const readPublic = (name: string): Document =>
  JSON.parse(readFileSync(createRequire(import.meta.url).resolve(`@octokit/openapi/generated/${name}.json`), 'utf8'))

test('every operation of the public description has an endpoint of its own, or says that it is not served', async () => {
  await using forge = await openForge()
  const { web, versioned: api } = await openApp(forge.belfry)
  const wrong: string[] = []
  for (const [name, listener, variant] of [
    ['ghes-3.19', web, selfHosted],
    ['api.github.com', api, versioned],
  ] as const) {
    const endpoints = apiGroups(forge.belfry).flatMap((group) => group.endpoints)
    const mounted = endpoints.filter(({ served }) => !served || served(variant))
    const declared = new Set(mounted.map(({ method, path }) => `${method} ${shapeOf(path)}`))
    let unserved = 0
    for (const { method, path } of operationsOf(readPublic(name))) {
      if (declared.has(`${method} ${shapeOf(formOf(path))}`)) continue
      unserved++
      const url = variant.prefix + path.replaceAll(/\{\w+\}/g, '1')
      const answer = await listener.inject({ method: method as NonNullable<InjectOptions['method']>, url })
      const said = answer.json().message
      if (answer.statusCode !== 404 || said !== message(method) || answer.headers['x-belfry-unserved'] !== 'true')
        wrong.push(`${name}: ${method} ${path} is ${answer.statusCode} ${said}`)
    }
    assert.ok(unserved > 400, `${unserved} operations of ${name}`)
  }
  await Promise.all([web.close(), api.close()])
  assert.deepEqual(wrong, [])
})

test('an unserved address is a 404 in the documented shape, with the headers of every response, before its body is read', async () => {
  await using forge = await openForge({ settings: { BELFRY_RATE_LIMIT: 'on' } })
  const ada = await forge.person('ada')
  for (const [index, client] of [ada, ada.versioned].entries()) {
    const path = '/repos/ada/engine/code-scanning/sarifs'
    for (const [method, answer] of [
      ['GET', await client.get(path)],
      ['POST', await client.post(path, '{"no JSON')],
      ['PUT', await client.put(path, JSON.stringify('x'.repeat(2_000_000)))],
    ] as const) {
      const body = await expect(404, answer)
      assert.deepEqual(body, { message: message(method), documentation_url: `${forge.web}/docs`, status: '404' })
      assert.equal(answer.headers.get('x-belfry-unserved'), 'true')
      assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8')
      assert.equal(answer.headers.get('access-control-allow-origin'), '*')
      assert.match(answer.headers.get('x-oauth-scopes') ?? '', /repo/)
    }
    const head = await client.head(path)
    assert.deepEqual([head.status, head.headers.get('x-belfry-unserved'), await head.text()], [404, 'true', ''])
    const options = await client.options(path)
    assert.deepEqual([options.status, options.headers.get('x-belfry-unserved')], [204, null])
    // Four requests above; a preflight is free.
    assert.equal((await client.get(path)).headers.get('x-ratelimit-used'), '5', `variant ${index}`)
  }
})

test('a wrong method, a trailing slash and an unknown address are not served either', async () => {
  await using forge = await openForge()
  for (const client of [forge.nobody, forge.nobodyVersioned]) {
    for (const [method, answer] of [
      ['POST', await client.post('/versions')],
      ['GET', await client.get('/user/')],
      ['GET', await client.get('/nothing/here')],
      ['GET', await client.get('/repos/ada/engine/constructor')],
    ] as const) {
      assert.equal((await expect(404, answer)).message, message(method))
      assert.equal(answer.headers.get('x-belfry-unserved'), 'true')
    }
  }
})

test('the answer does not depend on the repository, and a record that is missing or hidden is a plain 404', async () => {
  await using forge = await openForge()
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  const { id } = await ada.owns('secret', { private: true })
  await ada.owns('former')
  await expect(200, await ada.patch('/repos/ada/former', { name: 'engine' }))
  const names = ['/repos/ada/secret', '/repos/ada/nowhere', '/repos/ada/engine', '/repos/ada/former', `/repositories/${id}`]
  for (const client of [ben, forge.nobody]) {
    const bodies = await Promise.all(names.map(async (repo) => expect(404, await client.get(`${repo}/rulesets`))))
    for (const body of bodies) assert.deepEqual(body, bodies[0])
  }
  for (const path of [
    '/repos/ada/secret',
    '/repos/ada/secret/issues',
    `/repositories/${id}`,
    '/users/nobody-here',
    `/repos/ada/${'x'.repeat(300)}`,
    '/repos/ada/%ff',
  ]) {
    const answer = await ben.get(path)
    assert.equal((await expect(404, answer)).message, 'Not Found', path)
    assert.equal(answer.headers.get('x-belfry-unserved'), null, path)
  }
})

test('a page that does not exist is a page', async () => {
  await using forge = await openForge()
  const answer = await fetch(`${forge.web}/ada/engine/discussions`, { headers: { accept: 'text/html' } })
  assert.equal(answer.status, 404)
  assert.match(await answer.text(), /There is no such page/)
  assert.equal(answer.headers.get('x-belfry-unserved'), null)
})
