import { created, del, get, group, listOf, paged, post } from '#http/endpoint.ts'
import { Nothing } from '#http/serialization.ts'
import type { Caller } from '#identity/callers.ts'
import { Type } from '#platform/schema.ts'
import { DeployKey, deployKeyJson, keyJson, SimpleKey, simpleKeyJson, UserKey } from './json.ts'
import { type Adder, addKey, deleteKey, listKeys, loadKey } from './keys.ts'

const Title = Type.Optional(Type.String({ maxLength: 255 }))
const KeyText = Type.String({ maxLength: 16_384 })
const readingOwn = { permission: 'git_ssh_keys:read', scopes: ['read:public_key'] } as const
const reading = { permission: 'administration:read', scopes: ['repo'], access: 'admin' } as const
const administering = { permission: 'administration:write', scopes: ['repo'], access: 'admin' } as const

const adder = (user: Adder['user'], { token }: Caller): Adder => ({ user, application_id: token?.application_id ?? null })

export const api = group('Keys', [
  get(
    '/user/keys',
    {
      ...readingOwn,
      operation: 'users/list-public-ssh-keys-for-authenticated-user',
      summary: "The viewer's SSH keys",
      ...listOf(UserKey),
    },
    async ({ db, viewer, page, wire }) => paged(await listKeys(db, { user: viewer }, page), (row) => keyJson(row, wire)),
  ),
  post(
    '/user/keys',
    {
      operation: 'users/create-public-ssh-key-for-authenticated-user',
      permission: 'git_ssh_keys:write',
      summary: 'Add an SSH key',
      scopes: ['write:public_key'],
      body: Type.Object({ title: Title, key: KeyText }),
      answers: { 201: UserKey },
    },
    async ({ db, viewer, caller, body, wire }) =>
      created(keyJson(await addKey(db, { user: viewer }, adder(viewer, caller), { title: body.title, key: body.key }), wire)),
  ),
  get(
    '/user/keys/{key_id}',
    {
      ...readingOwn,
      operation: 'users/get-public-ssh-key-for-authenticated-user',
      summary: 'An SSH key of the viewer',
      answers: { 200: UserKey },
    },
    async ({ db, viewer, params, wire }) => keyJson(await loadKey(db, { user: viewer }, params.key_id), wire),
  ),
  del(
    '/user/keys/{key_id}',
    {
      operation: 'users/delete-public-ssh-key-for-authenticated-user',
      permission: 'git_ssh_keys:write',
      summary: 'Remove an SSH key',
      scopes: ['admin:public_key'],
      answers: { 204: Nothing },
    },
    ({ db, viewer, params }) => deleteKey(db, { user: viewer }, viewer, params.key_id),
  ),
  get(
    '/users/{username}/keys',
    {
      operation: 'users/list-public-keys-for-user',
      permission: 'any',
      summary: "A user's SSH keys, for those who want to check what they signed or let them in",
      viewer: 'optional',
      ...listOf(SimpleKey),
    },
    async ({ db, user, page }) => paged(await listKeys(db, { user }, page), simpleKeyJson),
  ),
  get(
    '/repos/{owner}/{repo}/keys',
    {
      ...reading,
      operation: 'repos/list-deploy-keys',
      summary: 'The keys that open this repository alone',
      ...listOf(DeployKey),
    },
    async ({ db, repo, page, wire }) => paged(await listKeys(db, { repo }, page), (row) => deployKeyJson(row, repo, wire)),
  ),
  post(
    '/repos/{owner}/{repo}/keys',
    {
      ...administering,
      operation: 'repos/create-deploy-key',
      summary: 'Add a key that opens this repository alone, for reading only or for writing too',
      body: Type.Object({ title: Title, key: KeyText, read_only: Type.Optional(Type.Boolean()) }),
      answers: { 201: DeployKey },
    },
    async ({ db, repo, viewer, caller, body: { title, key, read_only }, wire }) =>
      created(deployKeyJson(await addKey(db, { repo }, adder(viewer, caller), { title, key, read_only }), repo, wire)),
  ),
  get(
    '/repos/{owner}/{repo}/keys/{key_id}',
    {
      ...reading,
      operation: 'repos/get-deploy-key',
      summary: 'A key that opens this repository alone',
      answers: { 200: DeployKey },
    },
    async ({ db, repo, params, wire }) => deployKeyJson(await loadKey(db, { repo }, params.key_id), repo, wire),
  ),
  del(
    '/repos/{owner}/{repo}/keys/{key_id}',
    {
      ...administering,
      operation: 'repos/delete-deploy-key',
      summary: 'Remove a key from this repository',
      answers: { 204: Nothing },
    },
    ({ db, repo, viewer, params }) => deleteKey(db, { repo }, viewer, params.key_id),
  ),
])
