/*
 * Constants of the device that the bounds divide by, for one core, and the ends of the profile.
 */
SELECT num_physical_cores AS cores, instance_type,
       dma_ddr_bandwidth AS dma_peak_bytes_per_s,
       tensor_engine_num_rows * tensor_engine_num_cols * 2.0 * tensor_engine_clock_freq * 1e9 AS tensor_peak_flops,
       vector_engine_clock_freq AS vector_ghz, vector_engine_num_channels AS vector_channels,
       scalar_engine_clock_freq AS scalar_ghz, scalar_engine_num_channels AS scalar_channels,
       gpsimd_engine_clock_freq AS gpsimd_ghz, gpsimd_engine_num_channels AS gpsimd_channels,
       first_hw_timestamp AS start_ts, last_hw_timestamp AS end_ts
FROM Metadata
