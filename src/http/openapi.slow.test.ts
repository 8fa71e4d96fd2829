import { testAnswers } from '#test/openapi-answers.ts'

for (const variant of ['self-hosted', 'versioned'] as const)
  for (const kind of ['valid', 'hostile'] as const) testAnswers(variant, kind, 2)
