% Octave in single precision: a product, and a linear system.
rand ("twister", 1);
n = 400;
A = single (2 * rand (n) - 1);
B = single (2 * rand (n) - 1);

function say (name, result, exact)
  bits = hash ("sha256", sprintf ("%08x", typecast (single (result(:)), "uint32")));
  printf ("{\"case\": \"%s\", \"relres\": %.17g, \"digest\": \"%s\"}\n", name,
          norm (double (result) - exact, "fro") / norm (exact, "fro"), bits(1:16));
end

say ("A * B", A * B, double (A) * double (B));
say ("A * A'", A * A', double (A) * double (A)');
x = A \ B(:,1);
say ("A \\\\ b", x, double (A) \ double (B(:,1)));

% SPDX-License-Identifier: BSD-3-Clause
