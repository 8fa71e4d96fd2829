import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fieldsOf, nextState, type State, states, statusText, transitions } from './states.ts'

/** The transitions of the spec and of the decisions. */
const ways: Record<State | 'none', Record<string, string>> = {
  none: { started: 'importing', started_without_kind: 'detecting' },
  detecting: {
    found: 'importing',
    found_multiple: 'detection_found_multiple',
    found_nothing: 'detection_found_nothing',
    needs_auth: 'detection_needs_auth',
    auth_failed: 'auth_failed',
    failed: 'error',
  },
  importing: {
    imported: 'mapping',
    found: 'importing',
    found_multiple: 'detection_found_multiple',
    needs_auth: 'auth_failed',
    auth_failed: 'auth_failed',
    failed: 'error',
  },
  mapping: {
    mapped: 'pushing',
    mapped_too_early: 'mapping',
    waits: 'mapping',
    lfs_chosen: 'mapping',
    needs_auth: 'auth_failed',
    auth_failed: 'auth_failed',
    failed: 'error',
  },
  pushing: { pushed: 'complete', needs_auth: 'auth_failed', auth_failed: 'auth_failed', failed: 'error' },
  complete: { corrected: 'complete', failed: 'complete' },
  auth_failed: { credentials_given: 'importing', credentials_given_without_kind: 'detecting' },
  detection_needs_auth: { credentials_given: 'importing', credentials_given_without_kind: 'detecting' },
  detection_found_nothing: {},
  detection_found_multiple: { project_chosen: 'importing' },
  error: {},
}
const always = { restarted: 'importing', restarted_without_kind: 'detecting', cancelled: 'none' }

test('every state has the transitions of the spec, and no others', () => {
  const events = [...new Set(transitions.map(({ event }) => event))]
  for (const [state, own] of Object.entries(ways)) {
    const wanted: Record<string, string> = state === 'none' ? own : { ...own, ...always }
    const found = events.flatMap((event) => {
      const next = nextState(state as State, event)
      return next ? [[event, next]] : []
    })
    assert.deepEqual(Object.fromEntries(found), wanted, state)
  }
  assert.deepEqual(Object.keys(ways).sort(), ['none', ...states].sort())
  assert.equal(new Set(transitions.map(({ state, event }) => `${state} ${event}`)).size, transitions.length, 'said once')
})

test('every state has a text, and only the fields that belong to it', () => {
  const texts = states.map((status) => statusText({ status, waiting: false }))
  assert.equal(new Set(texts).size, states.length)
  assert.equal(statusText({ status: 'complete', waiting: true }), 'Done')
  assert.equal(statusText({ status: 'importing', waiting: false }), 'Importing...')
  assert.match(statusText({ status: 'mapping', waiting: true }), /opt_in.*opt_out/)
  assert.deepEqual(fieldsOf, {
    importing: ['commit_count', 'percent'],
    pushing: ['push_percent'],
    error: ['failed_step', 'message'],
    detection_found_multiple: ['project_choices'],
  })
})
