import { testAnswers } from '#test/openapi-answers.ts'

for (const kind of ['valid', 'hostile'] as const) testAnswers('self-hosted', kind, 1)
