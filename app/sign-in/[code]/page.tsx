import { SignInLink } from '#components/sign-in/sign-in-link';

export { generateMetadata } from '../page.tsx';

/** A one-time link, as the server prints it at its start. */
export default async function SignInLinkPage({ params }: { params: Promise<{ code: string }> }) {
  return <SignInLink code={(await params).code} />;
}
