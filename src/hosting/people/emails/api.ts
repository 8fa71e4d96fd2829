import { Answer, del, get, group, listOf, paged, patch, post } from '#http/endpoint.ts'
import { Nothing } from '#http/serialization.ts'
import { Type } from '#platform/schema.ts'
import { addEmails, deleteEmails, type Email, listEmails, setEmailVisibility } from './emails.ts'

const EmailSchema = Type.Object(
  {
    email: Type.String(),
    primary: Type.Boolean(),
    verified: Type.Boolean(),
    visibility: Type.Unsafe<Email['visibility']>({ type: 'string', nullable: true }),
  },
  { title: 'Email' },
)
const Emails = Type.Array(EmailSchema)
const NamedEmails = Type.Object({ emails: Type.Array(Type.String(), { minItems: 1, maxItems: 20 }) })

const reading = { permission: 'email_addresses:read', scopes: ['user:email'] } as const
const writing = { permission: 'email_addresses:write', scopes: ['user'] } as const

export const api = group('E-mail addresses', [
  get(
    '/user/emails',
    {
      ...reading,
      operation: 'users/list-emails-for-authenticated-user',
      summary: "List the caller's e-mail addresses, the primary one first",
      ...listOf(EmailSchema),
    },
    async ({ db, viewer, page }) => paged(await listEmails(db, viewer, page), (row) => row),
  ),
  post(
    '/user/emails',
    {
      ...writing,
      operation: 'users/add-email-for-authenticated-user',
      summary: "Add addresses to the caller's account; they are not verified",
      body: NamedEmails,
      array_field: 'emails',
      answers: { 201: Emails },
    },
    async ({ db, viewer, body }) => new Answer(await addEmails(db, viewer, body.emails), { status: 201 }),
  ),
  del(
    '/user/emails',
    {
      ...writing,
      operation: 'users/delete-email-for-authenticated-user',
      summary: "Delete addresses of the caller's account, except the primary one",
      body: NamedEmails,
      array_field: 'emails',
      refuses: ['missing'],
      answers: { 204: Nothing },
    },
    ({ db, viewer, body }) => deleteEmails(db, viewer, body.emails),
  ),
  patch(
    '/user/email/visibility',
    {
      ...writing,
      operation: 'users/set-primary-email-visibility-for-authenticated-user',
      summary: 'Show the primary address to everyone, or to nobody else',
      body: Type.Object({ visibility: Type.Unsafe<'public' | 'private'>({ type: 'string', enum: ['public', 'private'] }) }),
      answers: { 200: Emails },
    },
    ({ db, viewer, body }) => setEmailVisibility(db, viewer, body.visibility),
  ),
  get(
    '/user/public_emails',
    {
      ...reading,
      operation: 'users/list-public-emails-for-authenticated-user',
      summary: "List the caller's addresses that everyone sees",
      ...listOf(EmailSchema),
    },
    async ({ db, viewer, page }) => paged(await listEmails(db, viewer, page, { only_public: true }), (row) => row),
  ),
])
