import { loadBranch } from '#hosting/refs/commits.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { del, get, group, patch, post, put } from '#http/endpoint.ts'
import { Nothing } from '#http/serialization.ts'
import {
  checksJson,
  ProtectionSchema,
  protectionJson,
  protectionUrl,
  RequiredChecksSchema,
  RequiredReviewsSchema,
  reviewsJson,
  SwitchSchema,
} from './json.ts'
import { changeProtection, deleteProtection, loadProtection } from './protection.ts'
import { checksOf, mustBeProtected, noRules, type Protection, reviewsOf } from './rules.ts'
import { ChecksBody, ProtectionBody, ReviewsBody, readChecks, readReviews, readRules } from './settings.ts'

const reading = { permission: 'administration:read', scopes: ['public_repo', 'repo'], access: 'admin' } as const
const writing = { permission: 'administration:write', scopes: ['public_repo', 'repo'], access: 'admin', writable: true } as const

const signaturesJson = (protection: Protection, repo: Repository, wire: Parameters<typeof protectionJson>[2]) =>
  protectionJson(protection, repo, wire).required_signatures

const adminsJson = (protection: Protection, repo: Repository, wire: Parameters<typeof protectionJson>[2]) =>
  protectionJson(protection, repo, wire).enforce_admins

export const api = group('Branch protection', [
  get(
    '/repos/{owner}/{repo}/branches/{branch+}/protection',
    {
      ...reading,
      operation: 'repos/get-branch-protection',
      summary: 'Get what protects a branch',
      answers: { 200: ProtectionSchema },
    },
    async ({ db, storage, repo, params, wire }) =>
      protectionJson(await loadProtection(db, storage, repo, params.branch), repo, wire),
  ),
  put(
    '/repos/{owner}/{repo}/branches/{branch+}/protection',
    {
      ...writing,
      operation: 'repos/update-branch-protection',
      summary: 'Protect a branch, or replace what protects it',
      body: ProtectionBody,
      own_transaction: true,
      answers: { 200: ProtectionSchema },
    },
    async ({ db, storage, repo, viewer, params, body, wire }) => {
      await loadBranch(storage, repo, params.branch)
      const rules = await readRules(db, repo, body)
      const protection = await db.transaction((transaction) =>
        changeProtection(transaction, viewer, repo, params.branch, (present) => ({
          ...rules,
          required_signatures: (present ?? noRules).required_signatures,
        })),
      )
      return protectionJson(protection, repo, wire)
    },
  ),
  del(
    '/repos/{owner}/{repo}/branches/{branch+}/protection',
    {
      ...writing,
      operation: 'repos/delete-branch-protection',
      summary: 'Stop protecting a branch',
      answers: { 204: Nothing },
    },
    ({ db, repo, viewer, params }) => deleteProtection(db, viewer, repo, params.branch),
  ),
  ...(
    [
      ['enforce_admins', 'admin-branch-protection', 'set', 'whether the rules apply to admins too', adminsJson],
      ['required_signatures', 'commit-signature-protection', 'create', 'whether commits must be signed', signaturesJson],
    ] as const
  ).flatMap(([name, noun, verb, words, write]) => [
    get(
      `/repos/{owner}/{repo}/branches/{branch+}/protection/${name}`,
      { ...reading, operation: `repos/get-${noun}`, summary: `Get ${words}`, answers: { 200: SwitchSchema } },
      async ({ db, storage, repo, params, wire }) => write(await loadProtection(db, storage, repo, params.branch), repo, wire),
    ),
    post(
      `/repos/{owner}/{repo}/branches/{branch+}/protection/${name}`,
      { ...writing, operation: `repos/${verb}-${noun}`, summary: `Turn on ${words}`, answers: { 200: SwitchSchema } },
      async ({ db, repo, viewer, params, wire }) => {
        const turn = (present: Protection | undefined) => ({ ...mustBeProtected(present), [name]: true })
        return write(await changeProtection(db, viewer, repo, params.branch, turn), repo, wire)
      },
    ),
    del(
      `/repos/{owner}/{repo}/branches/{branch+}/protection/${name}`,
      { ...writing, operation: `repos/delete-${noun}`, summary: `Turn off ${words}`, answers: { 204: Nothing } },
      async ({ db, repo, viewer, params }) => {
        const turn = (present: Protection | undefined) => ({ ...mustBeProtected(present), [name]: false })
        await changeProtection(db, viewer, repo, params.branch, turn)
      },
    ),
  ]),
  get(
    '/repos/{owner}/{repo}/branches/{branch+}/protection/required_pull_request_reviews',
    {
      ...reading,
      operation: 'repos/get-pull-request-review-protection',
      summary: 'Get which reviews a change needs',
      answers: { 200: RequiredReviewsSchema },
    },
    async ({ db, storage, repo, params, wire }) => {
      const reviews = reviewsOf(await loadProtection(db, storage, repo, params.branch))
      return reviewsJson(reviews, protectionUrl(repo, params.branch, wire), wire)
    },
  ),
  patch(
    '/repos/{owner}/{repo}/branches/{branch+}/protection/required_pull_request_reviews',
    {
      ...writing,
      operation: 'repos/update-pull-request-review-protection',
      summary: 'Change which reviews a change needs',
      body: ReviewsBody,
      answers: { 200: RequiredReviewsSchema },
    },
    async ({ db, storage, repo, viewer, params, body, wire }) => {
      const { required_pull_request_reviews: present } = await loadProtection(db, storage, repo, params.branch)
      const reviews = await readReviews(db, repo, body, present ?? undefined)
      await changeProtection(db, viewer, repo, params.branch, (protection) => ({
        ...mustBeProtected(protection),
        required_pull_request_reviews: reviews,
      }))
      return reviewsJson(reviews, protectionUrl(repo, params.branch, wire), wire)
    },
  ),
  del(
    '/repos/{owner}/{repo}/branches/{branch+}/protection/required_pull_request_reviews',
    {
      ...writing,
      operation: 'repos/delete-pull-request-review-protection',
      summary: 'Let changes be made without a pull request',
      answers: { 204: Nothing },
    },
    async ({ db, repo, viewer, params }) => {
      await changeProtection(db, viewer, repo, params.branch, (present) => {
        reviewsOf(present)
        return { ...mustBeProtected(present), required_pull_request_reviews: null }
      })
    },
  ),
  get(
    '/repos/{owner}/{repo}/branches/{branch+}/protection/required_status_checks',
    {
      ...reading,
      operation: 'repos/get-status-checks-protection',
      summary: 'Get which checks must pass',
      answers: { 200: RequiredChecksSchema },
    },
    async ({ db, storage, repo, params, wire }) => {
      const checks = checksOf(await loadProtection(db, storage, repo, params.branch))
      return checksJson(checks, protectionUrl(repo, params.branch, wire))
    },
  ),
  patch(
    '/repos/{owner}/{repo}/branches/{branch+}/protection/required_status_checks',
    {
      ...writing,
      operation: 'repos/update-status-check-protection',
      summary: 'Change which checks must pass',
      body: ChecksBody,
      answers: { 200: RequiredChecksSchema },
    },
    async ({ db, repo, viewer, params, body, wire }) => {
      const protection = await changeProtection(db, viewer, repo, params.branch, (present) => ({
        ...mustBeProtected(present),
        required_status_checks: readChecks(body, present?.required_status_checks ?? undefined),
      }))
      return checksJson(checksOf(protection), protectionUrl(repo, params.branch, wire))
    },
  ),
  del(
    '/repos/{owner}/{repo}/branches/{branch+}/protection/required_status_checks',
    {
      ...writing,
      operation: 'repos/remove-status-check-protection',
      summary: 'Require no checks',
      answers: { 204: Nothing },
    },
    async ({ db, repo, viewer, params }) => {
      await changeProtection(db, viewer, repo, params.branch, (present) => {
        checksOf(present)
        return { ...mustBeProtected(present), required_status_checks: null }
      })
    },
  ),
])
