import { UsageError } from '#cli/command.ts'
import { createTokenByAdmin, listTokens, revokeAllTokens, revokeToken } from '#hosting/administration/tokens.ts'
import { allScopes } from '#identity/scopes.ts'
import { StartError } from '#platform/errors.ts'
import { listCommand } from './list-command.ts'
import { idIn, type Subcommand, subcommand } from './subcommand.ts'
import { dateText } from './table.ts'
import { findUser } from './users.ts'

export const tokenCommands: Subcommand[] = [
  listCommand({
    name: 'tokens list',
    arguments: '[LOGIN]',
    summary: 'list tokens of all users, or of one; secrets are not stored and cannot be shown',
    list:
      (_, [login]) =>
      async ({ db }, slice) =>
        listTokens(db, login === undefined ? null : await findUser(db, login), slice),
    columns: {
      ID: ({ id }) => id,
      USER: ({ login }) => login,
      KIND: ({ kind }) => kind,
      NOTE: ({ application, note }) => application ?? note,
      SCOPES: ({ scopes }) => scopes.join(','),
      'ENDS WITH': ({ last_eight }) => `…${last_eight}`,
      'LAST USED': ({ last_used_at }) => dateText(last_used_at),
      EXPIRES: ({ expires_at }) => dateText(expires_at),
    },
  }),
  subcommand({
    name: 'tokens create',
    arguments: 'LOGIN',
    summary: 'create a classic token that acts for a user, and print it once',
    options: {
      scopes: {
        type: 'string',
        default: '',
        value: 'LIST',
        about: 'scopes with commas between, or "all" [none: public data only]',
      },
      note: { type: 'string', default: 'Created by the operator', value: 'TEXT', about: 'what it is for' },
    },
    async run({ options, given: [login = ''], open }) {
      const scopes = options.scopes === 'all' ? allScopes : options.scopes.split(/[\s,]+/).filter(Boolean)
      const { db, operator } = await open()
      const user = await findUser(db, login)
      const wanted = { note: options.note, scopes }
      const made = await db.transaction((transaction) => createTokenByAdmin(transaction, operator, user, wanted))
      const { id, token, note } = made
      return { data: { id, login: user.login, note, scopes: made.scopes, token }, text: token }
    },
  }),
  subcommand({
    name: 'tokens revoke',
    arguments: '[ID]',
    summary: 'revoke a token by its id, or with --user all tokens of a user',
    options: { user: { type: 'string', value: 'LOGIN', about: 'revoke all tokens of this user' } },
    async run({ options: { user: login }, given: [id], open }) {
      if ((id === undefined) === (login === undefined))
        throw new UsageError('Give either the id of a token or --user', 'admin tokens revoke')
      const token_id = id === undefined ? 0 : idIn('tokens revoke', 'token', id)
      const { db, operator } = await open()
      if (login !== undefined) {
        const user = await findUser(db, login)
        const revoked = await db.transaction((transaction) => revokeAllTokens(transaction, operator, user))
        return { data: { login: user.login, revoked }, text: `Revoked ${revoked} tokens of ${user.login}.` }
      }
      const token = await db
        .transaction((transaction) => revokeToken(transaction, operator, token_id))
        .catch((error) => {
          throw error.reason === 'missing' ? new StartError(`There is no token ${id}.`) : error
        })
      return { data: { ...token, revoked: 1 }, text: `Revoked token ${token.id} of ${token.login}.` }
    },
  }),
]
