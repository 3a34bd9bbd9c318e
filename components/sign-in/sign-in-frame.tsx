import type { ReactNode } from 'react';
import { SignInHeading } from './sign-in-heading.tsx';

/** What the pages of those have in common who are not signed in. */
export const SignInFrame = ({ children }: { children: ReactNode }) => (
  <main
    id="content"
    className="mx-auto flex min-h-dvh w-full max-w-sm flex-col safe-area justify-center gap-5 [--edge:1rem]"
  >
    <SignInHeading />
    {children}
  </main>
);
